// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/table_shelf.h"

#include <algorithm>
#include <mutex>
#include <span>

namespace bobbin::unwind_feed {
namespace {

// Full enough that a file may find its share (file_share.h) small.
bool is_nearly_full(std::size_t count, std::size_t most) { return count > most - most / 4; }

}  // namespace

Occupant TableShelf::occupant(std::uint32_t id, const LastSampled& last_sampled,
                              std::chrono::nanoseconds now) const {
    const Resident& resident = residents_.at(id);
    const LastSampled::Use use = last_sampled.of(id, now);
    return {.executable_id = id,
            .first_word = resident.geometry.first_word,
            .word_count = resident.word_count,
            .last_used = std::max(use.last, resident.since - kColdAfter + kNewFor),
            .heat = use.heat};
}

std::optional<std::vector<Occupant>> TableShelf::victims_for(const Newcomer& newcomer,
                                                             const LastSampled& last_sampled,
                                                             std::chrono::nanoseconds now) const {
    std::vector<Occupant> occupants;
    occupants.reserve(sharers_.size());
    for (const auto& [first_word, ids] : sharers_) {
        // Nothing announces the vdso again.
        if (std::ranges::count(ids, std::uint32_t{EXECUTABLE_ID_VDSO}) != 0) continue;
        Occupant table = occupant(ids.front(), last_sampled, now);
        for (const std::uint32_t id : std::span(ids).subspan(1)) {
            const Occupant other = occupant(id, last_sampled, now);
            table.last_used = std::max(table.last_used, other.last_used);
            table.heat += other.heat;
        }
        occupants.push_back(table);
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
                         const std::optional<executable::ContentKey>& content,
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
    residents_.insert_or_assign(id, Resident{.geometry = geometry,
                                             .word_count = word_count,
                                             .since = now,
                                             .rules = table.rules,
                                             .content = content});
    // A table without words leaves no room behind, and lies where another does.
    if (word_count == 0) return {};
    sharers_[*first_word] = {id};
    if (content) {
        known_.add(*content, {.executable_id = id,
                              .row_count = table.row_count,
                              .bytes = word_count * sizeof(table.words[0])});
    }
    return {};
}

Result<> TableShelf::share(std::uint32_t id, const executable::ContentKey& content,
                           std::chrono::nanoseconds now) {
    const auto known = known_.find(content);
    if (!known) return fail("no unwind table of the same content");
    Resident resident = residents_.at(known->executable_id);
    resident.since = now;
    BOBBIN_CHECK(set_geometry(id, resident.geometry));
    sharers_[resident.geometry.first_word].push_back(id);
    residents_.insert_or_assign(id, std::move(resident));
    return {};
}

std::vector<std::uint32_t> TableShelf::sharers_of(std::uint32_t id) const {
    const auto sharers = sharers_.find(residents_.at(id).geometry.first_word);
    if (sharers == sharers_.end() || std::ranges::count(sharers->second, id) == 0) return {id};
    return sharers->second;
}

// Whether its words are still those of another one. The content may be known by another table, made
// when this one could not be shared.
bool TableShelf::leave_sharers(std::uint32_t id, const Resident& resident) {
    const auto sharers = sharers_.find(resident.geometry.first_word);
    if (sharers == sharers_.end() || std::erase(sharers->second, id) == 0) return false;
    const bool is_last = sharers->second.empty();
    auto known = resident.content ? known_.find(*resident.content) : std::nullopt;
    if (known && known->executable_id == id && is_last) {
        known_.remove(*resident.content);
    } else if (known && known->executable_id == id) {
        known->executable_id = sharers->second.front();
        known_.add(*resident.content, *known);
    }
    if (is_last) sharers_.erase(sharers);
    return !is_last;
}

// The geometry itself stays: who reads it at this moment reads one or the other mark, but never
// half of another table's numbers.
Result<> TableShelf::withdraw(std::uint32_t id) {
    const auto resident = residents_.find(id);
    abi::executable geometry = resident->second.geometry;
    geometry.is_ready = 0;
    BOBBIN_CHECK(set_geometry(id, geometry));
    if (!leave_sharers(id, resident->second)) withdrawn_.push_back(std::move(resident->second));
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
