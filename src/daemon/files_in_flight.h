// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/handoff_queue.h"
#include "daemon/build_budget.h"
#include "daemon/pending_files.h"
#include "executable/build_executable.h"
#include "executable/exec_events.h"
#include "executable/held_files.h"
#include "executable/known_tables.h"
#include "executable/open_file.h"
#include "executable/small_first_queue.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::daemon {

// What the publisher gets: a file that was built or refused, or one to be announced again.
using Publication = std::variant<executable::BuiltExecutable, abi::announcement>;

// What opener, builders and publisher hand to each other. Each of them owns it with the others,
// because a thread that stands still in a file system can only be left behind, and may wake when
// everything else is gone. Any thread.
class FilesInFlight {
public:
    // `max_memory_bytes`: of all of bobbin.
    FilesInFlight(executable::HoldLimits limits, std::uint64_t max_memory_bytes)
        : build_budget(max_memory_bytes / kPartForBuilding),
          held(limits),
          max_memory_bytes_(max_memory_bytes) {}

    // Counted, and the kernel side told that it need not wait. `path` is for people, maybe empty.
    void lose(const abi::announcement& announcement, executable::LostReason reason,
              const std::string& path = {});
    [[nodiscard]] executable::LostFileCounts lost_files() const;
    // Files that only the event of their exec still led to.
    void note_claimed() { ++claimed_count_; }
    [[nodiscard]] std::uint64_t claimed_count() const { return claimed_count_; }

    // Whether reading it would take more than there is at all. What takes more than the part for
    // reading is read alone.
    [[nodiscard]] bool is_too_large(std::uint64_t build_bytes) const {
        return build_bytes > max_memory_bytes_;
    }

    // A file system that did not answer twice is not asked a third time.
    void note_silent(std::uint32_t device);
    [[nodiscard]] bool is_silent(std::uint32_t device) const;

    // Processes that showed something new: perhaps the first of a container. The last few.
    void note_process(pid_t pid);
    std::vector<pid_t> take_processes();

    PendingFiles pending;
    executable::SmallFirstQueue<executable::OpenedFile> opened;
    HandoffQueue<Publication> built;
    unwind_table::SharedRules shared_rules;
    std::shared_ptr<executable::KnownTables> known_tables =
        std::make_shared<executable::KnownTables>();
    BuildBudget build_budget;
    executable::HeldFiles held;
    std::optional<executable::ExecEvents> exec_events;  // none: not allowed

private:
    // Stacks have another quarter, and naming them takes about as much (sampling.cpp).
    static constexpr std::uint64_t kPartForBuilding = 4;

    const std::uint64_t max_memory_bytes_;
    std::atomic<std::uint64_t> claimed_count_ = 0;
    mutable std::mutex mutex_;
    executable::LostFileCounts lost_files_{};
    std::map<std::uint32_t, unsigned> silences_;  // by device
    std::vector<pid_t> processes_;
};

}  // namespace bobbin::daemon
