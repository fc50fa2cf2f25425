// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "aggregate/raw_sample.h"
#include "bobbin/bpf_abi.h"
#include "user_walk/paused_walk.h"
#include "user_walk/walk_on.h"

namespace bobbin::daemon {

// Samples whose walk waits for a table. They are kept until their file is ready or refused, walked
// on, and handed over with all their frames; or handed over as they are, when the table does not
// come in time or there is no room for them. One thread.
class WaitingSamples {
public:
    using Clock = std::chrono::steady_clock;

    struct Limits {
        // Copies of stacks: 12,000 of a compiler's, 1 s of a machine all of whose files are new.
        std::size_t bytes = std::size_t{64} << 20;
        // The largest library takes 80 ms to read; what takes longer has lost its file.
        Clock::duration patience = std::chrono::seconds{2};
    };

    struct Steps {
        user_walk::StateOfFile state_of;
        std::function<user_walk::ContinuedWalk(user_walk::PausedWalk&, std::uint32_t most_frames)>
            walk_on;
        // Each sample that was kept comes out here, once; borrowed for the call.
        std::function<void(const aggregate::RawSample&)> finished;
    };

    explicit WaitingSamples(Steps steps) : WaitingSamples(std::move(steps), Limits{}) {}
    WaitingSamples(Steps steps, const Limits& limits) : steps_(std::move(steps)), limits_(limits) {}

    // Keeps a copy of the record of a sample that can be walked on; false: there is nothing to wait
    // for. The oldest make room.
    bool keep(std::span<const std::byte> record, Clock::time_point now);
    // Walks on what need not wait any more, and gives up what has waited too long.
    void look_again(Clock::time_point now);
    // Hands over all that is left.
    void give_up();

    [[nodiscard]] std::size_t count() const { return waiting_.size(); }
    // When the oldest of them was taken; `none` if there are none.
    [[nodiscard]] Clock::duration oldest_time(Clock::duration none) const;
    // Given up because others needed the room.
    [[nodiscard]] std::uint64_t displaced_count() const { return displaced_count_; }

private:
    struct Waiting {
        std::vector<std::byte> record;
        aggregate::RawSample sample;               // into record
        user_walk::PausedWalk walk;                // into record, but for its position
        std::vector<abi::frame_word> user_frames;  // so far; the last one is to be gone on from
        Clock::time_point since;

        [[nodiscard]] std::size_t bytes() const;
    };
    using Place = std::list<Waiting>::iterator;

    // nullopt: it waits on, perhaps for another file.
    std::optional<abi::walk_end> walk_on(Place place, Clock::time_point now);
    void finish(Place place, abi::walk_end end);

    Steps steps_;
    Limits limits_;
    std::list<Waiting> waiting_;  // by `since`
    std::size_t bytes_ = 0;
    std::uint64_t displaced_count_ = 0;
};

}  // namespace bobbin::daemon
