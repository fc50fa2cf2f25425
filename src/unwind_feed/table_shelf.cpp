// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/table_shelf.h"

#include <algorithm>
#include <mutex>

namespace bobbin::unwind_feed {
namespace {

// Full enough that a file may find its share (file_share.h) small.
bool is_nearly_full(std::size_t count, std::size_t most) { return count > most - most / 4; }

}  // namespace

std::optional<std::vector<Occupant>> TableShelf::victims_for(const Newcomer& newcomer,
                                                             const LastSampled& last_sampled,
                                                             std::chrono::nanoseconds now) const {
    std::vector<Occupant> occupants;
    occupants.reserve(residents_.size());
    for (const auto& [id, resident] : residents_) {
        // Nothing announces the vdso again; a table without words leaves no room behind.
        if (id == EXECUTABLE_ID_VDSO || resident.word_count == 0) continue;
        const LastSampled::Use use = last_sampled.of(id, now);
        occupants.push_back({.executable_id = id,
                             .first_word = resident.geometry.first_word,
                             .word_count = resident.word_count,
                             .last_used = std::max(use.last, resident.since - kColdAfter + kNewFor),
                             .heat = use.heat});
    }
    return choose_victims(pool_, occupants, newcomer, now);
}

// What the codes of the next table may refer to: all that is new, whichever table brought it.
Result<> TableShelf::write_shared_rules() {
    std::ranges::copy(shared_.specials.take_added(), std::back_inserter(unwritten_rules_));
    while (!unwritten_rules_.empty()) {
        const auto& [index, rule] = unwritten_rules_.back();
        BOBBIN_CHECK(kernel_.write_special_rules(index, {&rule, 1}));
        unwritten_rules_.pop_back();
    }
    std::ranges::copy(shared_.macros.take_added(), std::back_inserter(unwritten_macros_));
    while (!unwritten_macros_.empty()) {
        const auto& [index, macro] = unwritten_macros_.back();
        BOBBIN_CHECK(kernel_.write_macros(index, {&macro, 1}));
        unwritten_macros_.pop_back();
    }
    return {};
}

Result<> TableShelf::drop_bucket(std::uint32_t bucket) {
    BOBBIN_CHECK(kernel_.drop_bucket(bucket));
    pool_.drop_bucket(bucket);
    return {};
}

// First gone, then made: at no time are there more than the budget allows.
Result<> TableShelf::make_buckets(std::uint32_t first_word, std::size_t word_count) {
    for (const std::uint32_t bucket : pool_.drop_first(first_word, word_count)) {
        BOBBIN_CHECK(drop_bucket(bucket));
    }
    for (const std::uint32_t bucket : pool_.missing_buckets(first_word, word_count)) {
        BOBBIN_CHECK(kernel_.add_bucket(bucket));
        pool_.add_bucket(bucket);
    }
    return {};
}

// A walk in this process, unlike one in the kernel, is not kept away by the file's state.
Result<> TableShelf::set_geometry(std::uint32_t id, const abi::executable& geometry) {
    const std::unique_lock nobody_walks(in_use_);
    return kernel_.set_executable(id, geometry);
}

Result<> TableShelf::put(std::uint32_t id, const unwind_table::UnwindTable& table,
                         std::chrono::nanoseconds now) {
    const std::size_t word_count = table.words.size();
    const auto first_word = pool_.find_room(word_count);
    if (!first_word) return fail("no room for an unwind table of {} words", word_count);
    BOBBIN_CHECK(make_buckets(*first_word, word_count));
    BOBBIN_CHECK(write_shared_rules());
    BOBBIN_CHECK(kernel_.write_words(*first_word, table.words));
    const abi::executable geometry{.base_file_offset = table.base_file_offset,
                                   .first_word = *first_word,
                                   .granule_count = table.granule_count,
                                   .granule_shift = table.granule_shift,
                                   .is_ready = 1};
    BOBBIN_CHECK(set_geometry(id, geometry));
    pool_.take(*first_word, word_count);
    residents_.insert_or_assign(
        id,
        Resident{
            .geometry = geometry, .word_count = word_count, .since = now, .rules = table.rules});
    return {};
}

// The geometry itself stays: who reads it at this moment reads one or the other mark, but never
// half of another table's numbers.
Result<> TableShelf::withdraw(std::uint32_t id) {
    const auto resident = residents_.find(id);
    abi::executable geometry = resident->second.geometry;
    geometry.is_ready = 0;
    BOBBIN_CHECK(set_geometry(id, geometry));
    withdrawn_.push_back(std::move(resident->second));
    residents_.erase(resident);
    return {};
}

Result<> TableShelf::free_withdrawn() {
    kernel_.void_remembered_rules();
    BOBBIN_CHECK(kernel_.wait_for_walks());
    for (const Resident& gone : withdrawn_) {
        pool_.release(gone.geometry.first_word, gone.word_count);
    }
    withdrawn_.clear();
    forget_unused_rules();
    return {};
}

// Only where room is scarce: what is forgotten has to be learned again by the next that needs it.
void TableShelf::forget_unused_rules() {
    if (is_nearly_full(shared_.macros.live_count(), abi::MAX_MACROS) ||
        is_nearly_full(shared_.specials.live_count(), abi::MAX_SPECIAL_RULES)) {
        (void)shared_.forget_unused();
    }
}

Result<> TableShelf::drop_unused_buckets(std::size_t most) {
    std::vector<std::uint32_t> unused = pool_.unused_buckets();
    if (!unused.empty()) unused.erase(unused.begin());
    unused.resize(std::min(unused.size(), most));
    for (const std::uint32_t bucket : unused) BOBBIN_CHECK(drop_bucket(bucket));
    return {};
}

}  // namespace bobbin::unwind_feed
