// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include "aggregate/raw_sample.h"
#include "sampler/bounded_map.h"
#include "symbolize/code_maps.h"

namespace bobbin::daemon {

// Opens the files in which processes describe their generated code while they live, because names
// are made when the recording ends. Looks when generated code of a process is first met, a second
// later (the runtime may just begin to write), when the process ends (HotSpot may write its map
// then), and when asked. One thread of its own: files may lie where nobody answers, and then it is
// left behind.
class CodeMapKeeper {
public:
    using Clock = std::chrono::steady_clock;

    // Each takes up to four descriptors while it lives, two afterwards.
    static constexpr std::size_t kMaxProcesses = 512;

    CodeMapKeeper();
    ~CodeMapKeeper();
    CodeMapKeeper(const CodeMapKeeper&) = delete;
    CodeMapKeeper& operator=(const CodeMapKeeper&) = delete;

    // To be told of every sample, by one thread; never waits.
    void notice(const aggregate::RawSample& sample);

    // Looks for the files of all that live, as they are now; returns when that is done or when
    // `deadline` has passed. Any thread.
    void look_again(Clock::time_point deadline);

    // Without files: it has none, or they could not be had. Any thread.
    [[nodiscard]] symbolize::CodeMaps find(const symbolize::ProcessId& process) const;

    struct Counts {
        std::uint64_t gone = 0;      // processes that had ended before anybody could look
        std::uint64_t left_out = 0;  // processes beyond kMaxProcesses
        std::uint64_t refused = 0;   // files that were not what they have to be
    };
    [[nodiscard]] Counts counts() const;

private:
    class Shelf;
    class Watch;

    std::shared_ptr<Shelf> shelf_;
    // Those that the watch was told of. What is forgotten is told again, and known there.
    sampler::BoundedMap<symbolize::ProcessId, bool> noticed_{16'384};
    std::jthread thread_;
};

}  // namespace bobbin::daemon
