// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/unwind_feed.h"

#include <algorithm>
#include <utility>

namespace bobbin::unwind_feed {
namespace {

constexpr std::chrono::nanoseconds kFirstPatience = std::chrono::seconds{1};
constexpr std::chrono::nanoseconds kLongestPatience = std::chrono::minutes{1};
constexpr std::size_t kAskedBackAtOnce = 4;
// Each waits for RCU, 8 to 16 ms.
constexpr std::size_t kBucketsDroppedAtOnce = 4;
// A program that lives may sleep for longer; its table is built again when it is sampled again.
constexpr std::chrono::nanoseconds kGoneAfter = std::chrono::seconds{5};
// Of all files that are not sampled now it is asked whether they are gone, 16 ms for 16,000.
constexpr std::chrono::nanoseconds kBetweenForgetting = std::chrono::milliseconds{250};
// Each is asked for its link count, about 1 us.
constexpr std::size_t kFilesLookedAtAtOnce = 512;

// A word of a table takes 130 to 310 ns to read and pack (bash 139, libLLVM 19 210: 282,000 words
// in 59 ms; go, by its function table, 307), a file the rest.
std::chrono::nanoseconds cost_of_building(std::size_t word_count) {
    return std::chrono::microseconds{200} + std::chrono::nanoseconds{240} * word_count;
}

}  // namespace

UnwindFeed::UnwindFeed(KernelTables& kernel, unwind_table::SharedRules& shared,
                       executable::Catalog& catalog, std::uint64_t max_bytes,
                       std::shared_ptr<executable::KnownTables> known)
    : kernel_(kernel),
      catalog_(catalog),
      known_(std::move(known)),
      shelf_(kernel, shared, max_bytes / kBucketChargeBytes, *known_),
      known_files_(kernel, catalog, last_sampled_) {}

UnwindFeed::Counts UnwindFeed::counts() const {
    return {.tables_left = tables_left_,
            .tables_of_gone_files = tables_of_gone_files_,
            .tables_left_out = tables_left_out_,
            .tables_built_again = tables_built_again_,
            .files_forgotten = files_forgotten_,
            .failed_calls = failed_calls_,
            .peak_bytes = peak_bytes_};
}

bool UnwindFeed::survive(const Result<>& done) {
    if (!done) ++failed_calls_;
    return done.has_value();
}

Result<> UnwindFeed::tell_state(std::uint32_t id, const abi::file_key& key, abi::file_state state) {
    untold_states_.erase(id);
    known_files_.set_state(id, state);
    if (id == EXECUTABLE_ID_VDSO) return {};  // no inode: the program knows it by its address
    auto told = kernel_.set_file(key, {.executable_id = id, .state = static_cast<__u32>(state)});
    if (!survive(told)) untold_states_.insert_or_assign(id, FileState{key, state});
    return told;
}

void UnwindFeed::tell_states_again() {
    for (const auto& [id, untold] : std::exchange(untold_states_, {})) {
        // A table may have left again meanwhile.
        if (untold.state != abi::FILE_READY || shelf_.has(id)) {
            (void)tell_state(id, untold.key, untold.state);
        }
    }
}

Newcomer UnwindFeed::newcomer(std::uint32_t id, std::size_t word_count,
                              std::chrono::nanoseconds now) const {
    return {.word_count = word_count, .heat = last_sampled_.of(id, now).heat};
}

Result<> UnwindFeed::publish(executable::BuiltExecutable built, std::chrono::nanoseconds now) {
    const std::uint32_t id = built.executable.id;
    forget_files_if_ids_are_scarce(now);
    if (!known_files_.is_current(id)) return {};
    const abi::file_key key = built.key;
    abi::file_state state = abi::FILE_REFUSED;
    const bool is_usable = built.table || built.is_copy();
    if (is_usable && (shelf_.has(id) || share(built, now) || place(built, now))) {
        state = abi::FILE_READY;
        absentees_.erase(id);
    } else if (built.table) {
        state = abi::FILE_NO_ROOM;
        leave_out(built, now);
    } else if (built.is_copy()) {
        state = abi::FILE_UNANNOUNCED;
    }
    // The catalog first: a sample can name the executable as soon as the kernel side knows it.
    catalog_.add(std::move(built.executable));
    // Of one that was known before, the catalog keeps the file that it has.
    const auto& file = catalog_.find(id)->file;
    if (state == abi::FILE_READY) shelved_.insert_or_assign(id, Shelved{key, file});
    known_files_.note(id, key, file, now);
    return tell_state(id, key, state);
}

Result<> UnwindFeed::forget(const abi::announcement& announcement, std::chrono::nanoseconds now) {
    const std::uint32_t id = announcement.executable_id;
    forget_files_if_ids_are_scarce(now);
    if (!known_files_.is_current(id)) return {};
    known_files_.note(id, announcement.key, nullptr, now);
    return tell_state(id, announcement.key, abi::FILE_UNANNOUNCED);
}

// First its table, as ever, and the state of one without: a program that was about to mark it as
// announced is over when the walks are.
bool UnwindFeed::retire(const KnownFiles::File& file) {
    const abi::file_state before = state_of(file.id);
    if (!tell_state(file.id, file.key, abi::FILE_NO_ROOM)) {
        untold_states_.erase(file.id);
        known_files_.set_state(file.id, before);
        return false;
    }
    if (shelf_.has(file.id) && !survive(shelf_.withdraw(file.id))) {
        (void)tell_state(file.id, file.key, before);
        return false;
    }
    shelved_.erase(file.id);
    absentees_.erase(file.id);
    return true;
}

bool UnwindFeed::forget_one(const KnownFiles::File& file) {
    if (!survive(kernel_.forget_file(file.key))) {
        (void)tell_state(file.id, file.key, abi::FILE_UNANNOUNCED);
        return false;
    }
    untold_states_.erase(file.id);
    known_files_.depart(file.id);
    ++files_forgotten_;
    return true;
}

// Very many files may have come of late, none of which can be forgotten yet.
void UnwindFeed::forget_files_if_ids_are_scarce(std::chrono::nanoseconds now) {
    if (!known_files_.are_ids_scarce() || now - looked_for_ids_at_ < kBetweenForgetting) return;
    looked_for_ids_at_ = now;
    if (known_files_.is_any_departing()) return end_departures(now);
    (void)survive(known_files_.give_ids_back());
    std::vector<KnownFiles::File> files = known_files_.choose_to_forget(now);
    std::erase_if(files, [this](const KnownFiles::File& file) { return !retire(file); });
    if (files.empty()) return;
    if (!survive(shelf_.free_withdrawn())) {
        for (const KnownFiles::File& file : files) {
            (void)tell_state(file.id, file.key, abi::FILE_UNANNOUNCED);
        }
        return;
    }
    kernel_.begin_forgetting();
    std::erase_if(files, [this](const KnownFiles::File& file) { return !forget_one(file); });
    end_departures(now);
}

// Until the kernel says so, what is looked up in `files` is looked up twice.
void UnwindFeed::end_departures(std::chrono::nanoseconds now) {
    if (!survive(kernel_.wait_for_walks())) return;
    kernel_.end_forgetting();
    known_files_.all_departures_are_over(now);
}

bool UnwindFeed::share(const executable::BuiltExecutable& built, std::chrono::nanoseconds now) {
    return shelf_.has_same(built.content) &&
           survive(shelf_.share(built.executable.id, *built.content, now));
}

bool UnwindFeed::place(const executable::BuiltExecutable& built, std::chrono::nanoseconds now) {
    if (!built.table) return false;
    const std::uint32_t id = built.executable.id;
    const std::size_t word_count = built.table->words.size();
    if (const auto known = absentees_.find(id); known != absentees_.end()) {
        ++tables_built_again_;
        if (!known->second.is_paid) rebuild_credit_.spend(cost_of_building(word_count));
    }
    if (!shelf_.has_room_for(word_count)) {
        const auto victims = shelf_.victims_for(newcomer(id, word_count, now), last_sampled_, now);
        if (!victims) return false;
        dismiss(*victims, now);
        if (!shelf_.has_room_for(word_count)) return false;
    }
    const bool placed = survive(shelf_.put(id, *built.table, built.content, now));
    peak_bytes_ = std::max<std::uint64_t>(peak_bytes_, shelf_.bucket_count() * kBucketChargeBytes);
    return placed;
}

void UnwindFeed::dismiss(std::span<const Occupant> victims, std::chrono::nanoseconds now) {
    for (const Occupant& victim : victims) {
        Occupant sharer = victim;
        for (const std::uint32_t id : shelf_.sharers_of(victim.executable_id)) {
            sharer.executable_id = id;
            const bool has_left = dismiss_one(sharer, now);
            if (has_left && id == victim.executable_id) ++tables_left_;
        }
    }
    if (shelf_.has_withdrawn()) (void)survive(shelf_.free_withdrawn());
}

// One that was cold comes back with its next sample; one that was pushed out, or for whose return
// there is no credit, when look_again() says so.
bool UnwindFeed::dismiss_one(const Occupant& victim, std::chrono::nanoseconds now) {
    const std::uint32_t id = victim.executable_id;
    const bool may_return = now - victim.last_used >= kColdAfter && rebuild_credit_.is_left(now);
    const abi::file_key key = shelved_.at(id).key;
    const std::optional<executable::ContentKey> content = shelf_.content_of(id);
    if (!tell_state(id, key, may_return ? abi::FILE_UNANNOUNCED : abi::FILE_NO_ROOM)) {
        untold_states_.erase(id);  // it stays
        return false;
    }
    if (!survive(shelf_.withdraw(id))) {
        (void)tell_state(id, key, abi::FILE_READY);
        return false;
    }
    shelved_.erase(id);
    absentees_.insert_or_assign(id, Absentee{.key = key,
                                             .word_count = victim.word_count,
                                             .since = now,
                                             .patience = kFirstPatience,
                                             .is_asked_back = may_return,
                                             .content = content});
    return true;
}

// A few more each time: of very many files each has its turn.
std::vector<Occupant> UnwindFeed::some_of_gone_files(std::chrono::nanoseconds now) {
    std::vector<Occupant> gone;
    auto next = shelved_.upper_bound(last_looked_at_);
    for (std::size_t left = std::min(shelved_.size(), kFilesLookedAtAtOnce); left > 0; --left) {
        if (next == shelved_.end()) next = shelved_.begin();
        const auto& [id, shelved] = *next++;
        last_looked_at_ = id;
        if (id == EXECUTABLE_ID_VDSO) continue;  // a memfd, which has no name
        const Occupant occupant = shelf_.occupant(id, last_sampled_, now);
        const auto file = shelved.file.lock();
        if (now - occupant.last_used >= kGoneAfter && file && file->is_gone()) {
            gone.push_back(occupant);
        }
    }
    return gone;
}

// They mostly belong to processes that have ended. Who sleeps and wakes costs a build, so there has
// to be credit for that.
void UnwindFeed::let_go_of_gone_files(std::chrono::nanoseconds now) {
    std::erase_if(absentees_, [now](const auto& entry) {
        return entry.second.is_gone && now - entry.second.since >= kLongestPatience;
    });
    if (!rebuild_credit_.is_left(now)) return;
    const std::vector<Occupant> gone = some_of_gone_files(now);
    for (const Occupant& occupant : gone) {
        if (!dismiss_one(occupant, now)) continue;
        absentees_.at(occupant.executable_id).is_gone = true;
        ++tables_of_gone_files_;
    }
    if (shelf_.has_withdrawn()) (void)survive(shelf_.free_withdrawn());
}

void UnwindFeed::leave_out(const executable::BuiltExecutable& built, std::chrono::nanoseconds now) {
    ++tables_left_out_;
    Absentee& absentee = absentees_[built.executable.id];
    absentee.patience = std::clamp(2 * absentee.patience, kFirstPatience, kLongestPatience);
    absentee.key = built.key;
    absentee.word_count = built.table->words.size();
    absentee.since = now;
    absentee.is_asked_back = false;
    absentee.is_paid = false;
    absentee.content = built.content;
}

bool UnwindFeed::is_worth_its_room(std::uint32_t id, const Absentee& absentee,
                                   std::chrono::nanoseconds now) const {
    return shelf_.has_same(absentee.content) || shelf_.has_room_for(absentee.word_count) ||
           shelf_.victims_for(newcomer(id, absentee.word_count, now), last_sampled_, now)
               .has_value();
}

void UnwindFeed::ask_back(std::chrono::nanoseconds now) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> by_heat;
    for (const auto& [id, absentee] : absentees_) {
        const LastSampled::Use use = last_sampled_.of(id, now);
        const bool is_wanted = use.last >= absentee.since && use.heat > 0;
        if (absentee.is_asked_back || !is_wanted || now - absentee.since < absentee.patience) {
            continue;
        }
        by_heat.emplace_back(use.heat, id);
    }
    std::ranges::sort(by_heat, std::ranges::greater{});
    by_heat.resize(std::min(by_heat.size(), kAskedBackAtOnce));
    for (const auto& [heat, id] : by_heat) {
        Absentee& absentee = absentees_.at(id);
        if (!rebuild_credit_.is_left(now)) return;
        if (!is_worth_its_room(id, absentee, now)) continue;
        if (!tell_state(id, absentee.key, abi::FILE_UNANNOUNCED)) continue;
        rebuild_credit_.spend(cost_of_building(absentee.word_count));
        absentee.is_asked_back = true;
        absentee.is_paid = true;
    }
}

void UnwindFeed::look_again(std::chrono::nanoseconds now) {
    if (shelf_.has_withdrawn()) (void)survive(shelf_.free_withdrawn());
    tell_states_again();
    if (known_files_.is_any_departing()) end_departures(now);
    (void)survive(known_files_.give_ids_back());
    forget_files_if_ids_are_scarce(now);
    ask_back(now);
    let_go_of_gone_files(now);
    (void)survive(shelf_.drop_unused_buckets(kBucketsDroppedAtOnce));
}

}  // namespace bobbin::unwind_feed
