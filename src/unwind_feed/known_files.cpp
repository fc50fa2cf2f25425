// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/known_files.h"

#include <algorithm>
#include <tuple>

namespace bobbin::unwind_feed {
namespace {

constexpr unsigned kIdShift = 8;

std::uint32_t place_of(std::uint32_t id) { return id % abi::MAX_EXECUTABLES; }

std::uint32_t pack(std::uint32_t id, abi::file_state state) {
    return id << kIdShift | static_cast<std::uint32_t>(state);
}

}  // namespace

KnownFiles::KnownFiles(KernelTables& kernel, executable::Catalog& catalog,
                       LastSampled& last_sampled)
    : kernel_(kernel), catalog_(catalog), last_sampled_(last_sampled) {
    for (std::uint32_t id = 0; id < abi::MAX_EXECUTABLES; ++id) {
        (*places_)[id] = pack(id, abi::FILE_ANNOUNCED);
    }
}

abi::file_state KnownFiles::state_of(std::uint32_t id) const {
    const std::uint32_t packed = (*places_)[place_of(id)];
    if (packed >> kIdShift != id) return abi::FILE_NO_ROOM;
    return static_cast<abi::file_state>(packed & ((1U << kIdShift) - 1));
}

bool KnownFiles::is_current(std::uint32_t id) const {
    return (*places_)[place_of(id)] >> kIdShift == id;
}

void KnownFiles::note(std::uint32_t id, const abi::file_key& key,
                      const std::shared_ptr<const executable::HeldFile>& file,
                      std::chrono::nanoseconds now) {
    if (id != EXECUTABLE_ID_VDSO) known_.insert_or_assign(id, Known{key, now, file});
}

void KnownFiles::set_state(std::uint32_t id, abi::file_state state) {
    (*places_)[place_of(id)] = pack(id, state);
}

// Files that are announced and not told of yet have ids too, but cannot be forgotten.
bool KnownFiles::are_ids_scarce() const {
    const std::size_t in_use = known_.size() + departing_.size() + departed_.size();
    return in_use > kernel_.id_count() - kernel_.id_count() / 4;
}

std::vector<KnownFiles::File> KnownFiles::choose_to_forget(std::chrono::nanoseconds now) const {
    struct Candidate {
        bool has_name = false;
        std::chrono::nanoseconds last_used{};
        File file;
    };
    std::vector<Candidate> candidates;
    for (const auto& [id, known] : known_) {
        const auto last_used = std::max(known.since, last_sampled_.of(id, now).last);
        if (now - last_used < kForgetAfter) continue;
        const auto file = known.file.lock();
        candidates.push_back({!file || !file->is_gone(), last_used, {id, known.key}});
    }
    std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
        return std::tuple(candidate.has_name, candidate.last_used, candidate.file.id);
    });
    const std::size_t wanted = known_.size() - std::min(known_.size(), kernel_.id_count() / 2);
    candidates.resize(std::min(candidates.size(), wanted));
    std::vector<File> files;
    files.reserve(candidates.size());
    for (const Candidate& candidate : candidates) files.push_back(candidate.file);
    return files;
}

void KnownFiles::depart(std::uint32_t id) {
    known_.erase(id);
    departing_.push_back(id);
    (*places_)[place_of(id)] = pack(id + abi::MAX_EXECUTABLES, abi::FILE_ANNOUNCED);
}

void KnownFiles::all_departures_are_over(std::chrono::nanoseconds now) {
    for (const std::uint32_t id : departing_) departed_.push_back({id, now});
    departing_.clear();
}

// Before its next id is given out, so that what is noted of the next file stays.
void KnownFiles::put_out_of_use(Departed& departed) {
    if (departed.is_out_of_use) return;
    departed.is_out_of_use = true;
    const LastSampled::Use use = last_sampled_.of(departed.id, departed.since);
    if (use.last.count() == 0) catalog_.remove(departed.id);
    last_sampled_.forget(departed.id);
}

Result<> KnownFiles::give_ids_back() {
    const std::chrono::nanoseconds counted_until{counted_until_};
    while (!departed_.empty() && departed_.front().since < counted_until) {
        Departed& departed = departed_.front();
        put_out_of_use(departed);
        const std::uint32_t next = departed.id + abi::MAX_EXECUTABLES;
        if (next < abi::MAX_EXECUTABLE_IDS) BOBBIN_CHECK(kernel_.add_free_id(next));
        departed_.pop_front();
    }
    return {};
}

}  // namespace bobbin::unwind_feed
