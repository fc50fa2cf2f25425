// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>

#include "aggregate/stack_counts.h"
#include "base/result.h"
#include "sampler/bpf_program.h"
#include "sampler/process_labels.h"
#include "sampler/ring_buffer.h"

namespace bobbin::daemon {

// The first half of the sample walk: ring buffer -> counted stacks. One thread, the reader, from
// construction to destruction. Names come when the recording ends (record.cpp).
class SampleWalk {
public:
    static Result<std::unique_ptr<SampleWalk>> start(const sampler::BpfProgram& program,
                                                     sampler::ProcessLabelReader& labels);

    struct Progress {
        std::uint64_t sample_count = 0;
        std::uint64_t complete_count = 0;
        std::uint64_t process_count = 0;
    };
    [[nodiscard]] Progress progress() const;

    // A copy of what was counted so far; sampling goes on.
    [[nodiscard]] aggregate::CountedStacks snapshot() const;

    // Ends the thread once it has read all that is in the ring buffer; sampling must have stopped.
    aggregate::CountedStacks finish();

    SampleWalk(const SampleWalk&) = delete;
    SampleWalk& operator=(const SampleWalk&) = delete;
    ~SampleWalk() = default;

private:
    explicit SampleWalk(sampler::ProcessLabelReader& labels) : labels_(labels) {}
    void add(std::span<const std::byte> record);
    void run(const std::stop_token& stop);

    sampler::ProcessLabelReader& labels_;
    mutable std::mutex counts_mutex_;
    aggregate::StackCounts counts_;
    std::optional<sampler::RingBuffer> samples_;
    std::jthread reader_;  // last: joined before the rest goes
};

}  // namespace bobbin::daemon
