// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "executable/build_executable.h"
#include "executable/catalog.h"
#include "executable/known_tables.h"
#include "unwind_feed/kernel_tables.h"
#include "unwind_feed/known_files.h"
#include "unwind_feed/last_sampled.h"
#include "unwind_feed/rebuild_credit.h"
#include "unwind_feed/table_shelf.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::unwind_feed {

// What the kernel charges for a bucket: its words, and a page for what it knows of it.
constexpr std::uint64_t kBucketChargeBytes = abi::BUCKET_BYTES + 4096;
constexpr std::uint64_t kDefaultMaxTableBytes = 256ULL << 20;

inline std::chrono::nanoseconds monotonic_now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

// Keeps the kernel's tables true, and within their budget: third step of open, build, publish.
// Order is what makes it safe while programs run. A table comes by special rules, macros and words
// first, then the geometry, then the state of the file, which lets a program look. It goes the
// other way round, and its words are given to others only when the last walk that may have seen
// them is over. One thread, but for what says otherwise.
class UnwindFeed {
public:
    struct Counts {
        std::uint64_t tables_left = 0;           // they made room for others
        std::uint64_t tables_of_gone_files = 0;  // let go, with nobody who needed the room
        std::uint64_t tables_left_out = 0;       // they found no room when they were built
        std::uint64_t tables_built_again = 0;    // of both
        std::uint64_t files_forgotten = 0;       // so that others find an id
        std::uint64_t failed_calls = 0;          // of the kernel; survived
        std::uint64_t peak_bytes = 0;            // charged for buckets
    };

    // `max_bytes`: what the kernel may charge for buckets. Maps of fixed size come on top.
    UnwindFeed(KernelTables& kernel, unwind_table::SharedRules& shared,
               executable::Catalog& catalog, std::uint64_t max_bytes = kDefaultMaxTableBytes,
               std::shared_ptr<executable::KnownTables> known =
                   std::make_shared<executable::KnownTables>());

    // Makes the table known to the kernel and the executable to the catalog. Files with the same
    // content have one table; a copy whose table has left meanwhile is announced again. A table
    // that finds no room, or for which the kernel has no memory, is left out until look_again()
    // finds that there is. What is told of a file that was forgotten meanwhile counts for nothing.
    // Error: the kernel could not be told of the file's state, and will be told later.
    Result<> publish(executable::BuiltExecutable built,
                     std::chrono::nanoseconds now = monotonic_now());

    // The file could not be opened: whoever meets it next announces it again.
    Result<> forget(const abi::announcement& announcement,
                    std::chrono::nanoseconds now = monotonic_now());

    // To be called about once a second: has files announced again whose tables were left out and
    // are worth their room by now, tries again what failed, lets go of tables of files that are
    // gone, gives buckets back to the kernel, and ids that were forgotten.
    void look_again(std::chrono::nanoseconds now = monotonic_now());

    // Told by the sample walk of every sample's user frames. Any thread.
    [[nodiscard]] LastSampled& last_sampled() { return last_sampled_; }
    // Held shared by who walks over the same tables in this process. Any thread.
    [[nodiscard]] std::shared_mutex& tables_in_use() { return shelf_.in_use(); }
    // KnownFiles. Any thread.
    [[nodiscard]] abi::file_state state_of(std::uint32_t id) const {
        return known_files_.state_of(id);
    }
    // False: the kernel side forgot the file. Any thread.
    [[nodiscard]] bool is_current(std::uint32_t id) const { return known_files_.is_current(id); }
    // Told by the sample walk: all samples taken before `when` are counted. Any thread.
    void note_counted_until(std::chrono::nanoseconds when) {
        known_files_.note_counted_until(when);
    }
    [[nodiscard]] Counts counts() const;  // any thread

    [[nodiscard]] std::uint64_t table_bytes() const { return shelf_.words_taken() * 4; }

private:
    // A file whose table is not there, though it can be built.
    struct Absentee {
        abi::file_key key{};
        std::size_t word_count = 0;
        std::chrono::nanoseconds since{};
        std::chrono::nanoseconds patience{};  // until it may be asked back
        bool is_asked_back = false;           // the next sample announces it
        bool is_paid = false;                 // rebuild_credit_ was spent on it
        bool is_gone = false;                 // no name leads to it any more
        std::optional<executable::ContentKey> content;
    };
    struct Shelved {
        abi::file_key key{};
        std::weak_ptr<const executable::HeldFile> file;  // the catalog's
    };
    struct FileState {
        abi::file_key key{};
        abi::file_state state{};
    };

    bool share(const executable::BuiltExecutable& built, std::chrono::nanoseconds now);
    bool place(const executable::BuiltExecutable& built, std::chrono::nanoseconds now);
    [[nodiscard]] Newcomer newcomer(std::uint32_t id, std::size_t word_count,
                                    std::chrono::nanoseconds now) const;
    void dismiss(std::span<const Occupant> victims, std::chrono::nanoseconds now);
    bool dismiss_one(const Occupant& victim, std::chrono::nanoseconds now);
    [[nodiscard]] std::vector<Occupant> some_of_gone_files(std::chrono::nanoseconds now);
    void let_go_of_gone_files(std::chrono::nanoseconds now);
    void leave_out(const executable::BuiltExecutable& built, std::chrono::nanoseconds now);
    void ask_back(std::chrono::nanoseconds now);
    [[nodiscard]] bool is_worth_its_room(std::uint32_t id, const Absentee& absentee,
                                         std::chrono::nanoseconds now) const;
    Result<> tell_state(std::uint32_t id, const abi::file_key& key, abi::file_state state);
    void tell_states_again();
    void forget_files_if_ids_are_scarce(std::chrono::nanoseconds now);
    bool retire(const KnownFiles::File& file);
    bool forget_one(const KnownFiles::File& file);
    void end_departures(std::chrono::nanoseconds now);
    bool survive(const Result<>& done);

    KernelTables& kernel_;
    executable::Catalog& catalog_;
    std::shared_ptr<executable::KnownTables> known_;
    TableShelf shelf_;
    LastSampled last_sampled_;
    RebuildCredit rebuild_credit_;
    std::map<std::uint32_t, Shelved> shelved_;  // the files on the shelf
    std::uint32_t last_looked_at_ = 0;          // of these, whether it is gone
    std::map<std::uint32_t, Absentee> absentees_;
    std::map<std::uint32_t, FileState> untold_states_;
    KnownFiles known_files_;
    std::chrono::nanoseconds looked_for_ids_at_{};

    std::atomic<std::uint64_t> tables_left_ = 0;
    std::atomic<std::uint64_t> tables_of_gone_files_ = 0;
    std::atomic<std::uint64_t> tables_left_out_ = 0;
    std::atomic<std::uint64_t> tables_built_again_ = 0;
    std::atomic<std::uint64_t> files_forgotten_ = 0;
    std::atomic<std::uint64_t> failed_calls_ = 0;
    std::atomic<std::uint64_t> peak_bytes_ = 0;
};

}  // namespace bobbin::unwind_feed
