// SPDX-License-Identifier: Apache-2.0
#include "daemon/waiting_samples.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

namespace bobbin::daemon {
namespace {

bool is_decided(abi::file_state state) {
    return state == abi::FILE_READY || state == abi::FILE_REFUSED || state == abi::FILE_NO_ROOM;
}

}  // namespace

std::size_t WaitingSamples::Waiting::bytes() const {
    return sizeof(Waiting) + record.capacity() + user_frames.capacity() * sizeof(user_frames[0]);
}

bool WaitingSamples::keep(std::span<const std::byte> record, Clock::time_point now) {
    Waiting waiting;
    waiting.record.assign(record.begin(), record.end());
    const auto sample = aggregate::parse_sample(waiting.record);
    if (!sample || sample->user_frames.empty() ||
        sample->user_frames.size() > abi::MAX_USER_FRAMES ||
        sample->header->walk_end != abi::WALK_END_FILE_NOT_READY) {
        return false;
    }
    const auto walk = user_walk::parse_paused_walk(sample->paused_walk);
    if (!walk) return false;
    waiting.sample = *sample;
    waiting.walk = *walk;
    waiting.user_frames.assign(sample->user_frames.begin(), sample->user_frames.end());
    waiting.since = now;
    bytes_ += waiting.bytes();
    waiting_.push_back(std::move(waiting));
    while (bytes_ > limits_.bytes) {
        ++displaced_count_;
        finish(waiting_.begin(), abi::WALK_END_FILE_NOT_READY);
    }
    return true;
}

void WaitingSamples::look_again(Clock::time_point now) {
    std::unordered_map<std::uint32_t, bool> decided;
    // What waits for its next file goes to the end and is not looked at twice.
    std::size_t left = waiting_.size();
    for (auto next = waiting_.begin(); left != 0; --left) {
        const auto place = next++;
        const std::uint32_t awaited = place->walk.position.awaited_executable_id;
        const auto [known, is_new] = decided.try_emplace(awaited);
        if (is_new) known->second = is_decided(steps_.state_of(awaited));
        if (known->second) {
            if (const auto end = walk_on(place, now)) finish(place, *end);
        } else if (now - place->since >= limits_.patience) {
            finish(place, abi::WALK_END_FILE_NOT_READY);
        }
    }
}

std::optional<abi::walk_end> WaitingSamples::walk_on(Place place, Clock::time_point now) {
    std::vector<abi::frame_word>& frames = place->user_frames;
    const auto noted = static_cast<std::uint32_t>(frames.size());
    auto walked = steps_.walk_on(place->walk, abi::MAX_USER_FRAMES - (noted - 1));
    const bool waits = walked.end == abi::WALK_END_FILE_NOT_READY;
    if (!walked.frames.empty()) {
        bytes_ -= place->bytes();
        frames.pop_back();
        frames.insert(frames.end(), walked.frames.begin(), walked.frames.end());
        bytes_ += place->bytes();
    }
    if (!waits) return walked.end;
    // Only a step further begins a new wait, so no table that comes and goes makes it endless.
    if (walked.frames.size() > 1) {
        place->since = now;
        waiting_.splice(waiting_.end(), waiting_, place);
    } else if (now - place->since >= limits_.patience) {
        return walked.end;
    }
    return std::nullopt;
}

void WaitingSamples::finish(Place place, abi::walk_end end) {
    auto* const header = reinterpret_cast<abi::sample_header*>(place->record.data());
    header->walk_end = static_cast<__u8>(end);
    header->user_frame_count = static_cast<__u16>(place->user_frames.size());
    header->flags &= static_cast<__u8>(~abi::SAMPLE_HAS_PAUSED_WALK);
    place->sample.user_frames = place->user_frames;
    place->sample.paused_walk = {};
    steps_.finished(place->sample);
    bytes_ -= place->bytes();
    waiting_.erase(place);
}

// steady_clock is CLOCK_MONOTONIC, as are the times of samples.
WaitingSamples::Clock::duration WaitingSamples::oldest_time(Clock::duration none) const {
    Clock::duration oldest = none;
    for (const Waiting& waiting : waiting_) {
        const std::chrono::nanoseconds taken{waiting.sample.header->time_ns};
        oldest = std::min<Clock::duration>(oldest, taken);
    }
    return oldest;
}

void WaitingSamples::give_up() {
    while (!waiting_.empty()) finish(waiting_.begin(), abi::WALK_END_FILE_NOT_READY);
}

}  // namespace bobbin::daemon
