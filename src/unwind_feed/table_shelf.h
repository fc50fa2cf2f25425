// SPDX-License-Identifier: Apache-2.0
#pragma once

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
#include "bobbin/bpf_abi.h"
#include "executable/known_tables.h"
#include "unwind_feed/choose_victims.h"
#include "unwind_feed/kernel_tables.h"
#include "unwind_feed/last_sampled.h"
#include "unwind_feed/word_pool.h"
#include "unwind_table/build_table.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::unwind_feed {

// The tables that the kernel has, where they lie, and who leaves when another needs the room.
// Knows executables by id alone; that no program looks at a table any more, or not yet, is said by
// the state of its file (UnwindFeed). One thread.
class TableShelf {
public:
    TableShelf(KernelTables& kernel, unwind_table::SharedRules& shared, std::size_t max_buckets,
               executable::KnownTables& known)
        : kernel_(kernel), shared_(shared), known_(known), pool_(max_buckets) {}

    [[nodiscard]] bool has(std::uint32_t id) const { return residents_.contains(id); }
    // Free words in one piece: none have to leave for it.
    [[nodiscard]] bool has_room_for(std::size_t word_count) const {
        return pool_.find_room(word_count).has_value();
    }
    // Whose tables have to leave for `newcomer` (choose_victims.h); nullopt: it is not worth it.
    [[nodiscard]] std::optional<std::vector<Occupant>> victims_for(
        const Newcomer& newcomer, const LastSampled& last_sampled,
        std::chrono::nanoseconds now) const;

    // A table that is there, as one that may have to leave.
    [[nodiscard]] Occupant occupant(std::uint32_t id, const LastSampled& last_sampled,
                                    std::chrono::nanoseconds now) const;

    // Writes a table for which there is room, all but the state of its file. Files with the same
    // `content` can share it.
    Result<> put(std::uint32_t id, const unwind_table::UnwindTable& table,
                 const std::optional<executable::ContentKey>& content,
                 std::chrono::nanoseconds now);
    // Makes the table of a file with this content that of `id` too: no words are written.
    [[nodiscard]] bool has_same(const std::optional<executable::ContentKey>& content) const {
        return content && known_.find(*content).has_value();
    }
    Result<> share(std::uint32_t id, const executable::ContentKey& content,
                   std::chrono::nanoseconds now);
    // `id`, and all that share its table: it leaves when all of them are withdrawn.
    [[nodiscard]] std::vector<std::uint32_t> sharers_of(std::uint32_t id) const;
    [[nodiscard]] const std::optional<executable::ContentKey>& content_of(std::uint32_t id) const {
        return residents_.at(id).content;
    }

    // No walk that begins after the call uses the table of `id`, whose file's state says so
    // already.
    Result<> withdraw(std::uint32_t id);
    // Frees the words of all that was withdrawn once the last walk that may see them is over. After
    // an error they are still to be freed.
    Result<> free_withdrawn();
    [[nodiscard]] bool has_withdrawn() const { return !withdrawn_.empty(); }

    // Gives up to `most` buckets back to the kernel in which nothing lies, but keeps one.
    Result<> drop_unused_buckets(std::size_t most);

    [[nodiscard]] std::shared_mutex& in_use() { return in_use_; }
    [[nodiscard]] std::uint64_t words_taken() const { return pool_.words_taken(); }
    [[nodiscard]] std::size_t bucket_count() const { return pool_.bucket_count(); }

private:
    struct Resident {
        abi::executable geometry{};
        std::size_t word_count = 0;
        std::chrono::nanoseconds since{};
        std::shared_ptr<const unwind_table::HeldRules> rules;
        std::optional<executable::ContentKey> content;
    };

    Result<> write_shared_rules();
    Result<> make_buckets(std::uint32_t first_word, std::size_t word_count);
    Result<> drop_bucket(std::uint32_t bucket);
    Result<> set_geometry(std::uint32_t id, const abi::executable& geometry);
    bool leave_sharers(std::uint32_t id, const Resident& resident);
    void forget_unused_rules();

    KernelTables& kernel_;
    unwind_table::SharedRules& shared_;
    executable::KnownTables& known_;
    WordPool pool_;
    std::map<std::uint32_t, Resident> residents_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> sharers_;  // by first word; none is empty
    std::vector<Resident> withdrawn_;
    std::shared_mutex in_use_;
    std::vector<unwind_table::SpecialRules::IndexedRule> unwritten_rules_;
    std::vector<unwind_table::MacroDictionary::IndexedMacro> unwritten_macros_;
};

}  // namespace bobbin::unwind_feed
