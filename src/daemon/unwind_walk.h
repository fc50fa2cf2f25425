// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/result.h"
#include "daemon/builder_crew.h"
#include "daemon/file_keeper.h"
#include "daemon/file_opener.h"
#include "daemon/files_in_flight.h"
#include "daemon/ready_times.h"
#include "executable/catalog.h"
#include "executable/open_file.h"
#include "sampler/bpf_kernel_tables.h"
#include "sampler/bpf_program.h"
#include "unwind_feed/unwind_feed.h"

namespace bobbin::daemon {

// The unwind walk: announcement -> open file -> ELF, CFI, table -> the kernel's maps. A thread a
// step, because opening must not wait (a process may live for 1 ms), building takes up to 60 ms a
// file, and publishing now and then waits 16 ms for the kernel.
//   opener     reads announcements, finds the files; before all other threads where allowed
//   builders   read and pack, several files at once, small ones first
//   publisher  writes the kernel's maps and the catalog
//   keeper     exec events, files held for long, builders that stand still
// Runs from construction to destruction.
class UnwindWalk {
public:
    // Announces what runs already and returns when all of that is published, so that the first
    // sample finds its tables, or when `patience` has passed: the rest then follows while sampling
    // goes on. `max_table_bytes`: what the kernel may charge for them; `max_memory_bytes`: what all
    // of bobbin may take, of which building takes its part.
    static Result<std::unique_ptr<UnwindWalk>> start(sampler::BpfProgram& program,
                                                     executable::Catalog& catalog,
                                                     std::uint64_t max_table_bytes,
                                                     std::uint64_t max_memory_bytes,
                                                     std::chrono::milliseconds patience);

    // Files that could not be had, by reason.
    [[nodiscard]] executable::LostFileCounts lost_files() const { return files_->lost_files(); }
    // Files whose names cannot be read any more: too many were held open.
    [[nodiscard]] std::uint64_t dropped_file_count() const { return files_->held.dropped_count(); }

    // Whether a file is announced and neither published nor lost. What stands in the ring buffer
    // unread counts only for the call that waits.
    [[nodiscard]] bool is_anything_pending() const { return files_->pending.count() != 0; }
    // Returns once all that was announced before the call is published or lost: true. False:
    // `deadline` passed first. Any thread.
    bool wait_until_nothing_pending(std::chrono::steady_clock::time_point deadline) {
        return files_->pending.wait_until_none(deadline);
    }
    // An eventfd that becomes readable whenever files were published or lost: what waits for a
    // table may look again. Whoever reads it resets it. Borrowed; non-blocking.
    [[nodiscard]] int publication_fd() const { return files_->pending.finished_fd(); }

    // For those of its methods that any thread may call.
    [[nodiscard]] unwind_feed::UnwindFeed& feed() { return feed_; }
    // sampler/bpf_kernel_tables.h says when.
    [[nodiscard]] const std::uint32_t* bucket_words(std::uint32_t bucket) const {
        return kernel_.words_of(bucket);
    }

    UnwindWalk(const UnwindWalk&) = delete;
    UnwindWalk& operator=(const UnwindWalk&) = delete;
    ~UnwindWalk();

private:
    UnwindWalk(const sampler::BpfProgram& program, executable::Catalog& catalog,
               std::uint64_t max_table_bytes, std::uint64_t max_memory_bytes);
    void start_threads();
    void run_publisher(const std::stop_token& stop);
    void publish_all(std::deque<Publication> publications);
    Result<> publish(Publication publication);
    Result<> build_vdso();
    Result<> publish_running(sampler::BpfProgram& program, std::chrono::milliseconds patience);

    std::shared_ptr<FilesInFlight> files_;
    sampler::BpfKernelTables kernel_;
    unwind_feed::UnwindFeed feed_;
    ReadyTimes ready_times_;
    std::shared_ptr<FileOpener> opener_;
    std::optional<BuilderCrew> builders_;
    std::optional<FileKeeper> keeper_;

    // Last, so that they are joined before anything above goes.
    std::jthread publisher_;
    std::jthread keeper_thread_;
    std::jthread opener_thread_;
};

}  // namespace bobbin::daemon
