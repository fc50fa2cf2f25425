// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "aggregate/stack_counts.h"
#include "base/result.h"
#include "bobbin/bpf_abi.h"
#include "daemon/code_map_keeper.h"
#include "daemon/counts_by_rate.h"
#include "daemon/resumed_walks.h"
#include "daemon/unwind_walk.h"
#include "daemon/waiting_samples.h"
#include "sampler/bpf_program.h"
#include "sampler/process_labels.h"
#include "sampler/ring_buffer.h"
#include "user_walk/mapped_tables.h"

namespace bobbin::daemon {

// The first half of the sample walk: ring buffer -> counted stacks; samples that came before the
// tables of their files wait for these in between. One thread, the reader, from construction to
// destruction. Names come when the recording ends (record.cpp).
class SampleWalk {
public:
    static Result<std::unique_ptr<SampleWalk>> start(const sampler::BpfProgram& program,
                                                     sampler::ProcessLabelReader& labels,
                                                     UnwindWalk& unwind_walk,
                                                     CodeMapKeeper& code_maps,
                                                     std::uint64_t max_stack_bytes);

    // The moment the recording begins: samples say when they came from then on.
    void begin_at(std::chrono::steady_clock::time_point start);
    // Samples that are taken from `since` on stand for `period`, those before the first call too.
    void begin_rate(std::chrono::steady_clock::time_point since, std::chrono::nanoseconds period);

    struct Progress {
        std::uint64_t sample_count = 0;
        std::uint64_t complete_count = 0;
        std::uint64_t process_count = 0;
        std::array<std::uint64_t, abi::WALK_END_COUNT> by_walk_end{};
    };
    [[nodiscard]] Progress progress() const;

    // A copy of what was counted so far, at the rate as it is; sampling goes on, and what waits is
    // counted later.
    [[nodiscard]] aggregate::CountedStacks snapshot() const;

    // Hands over what was counted since the last time, by rate (counts_by_rate.h); sampling goes
    // on, and what waits for tables comes the next time or later. progress() then tells of what
    // came since, and times are counted from `next_begin`.
    std::vector<RateCounts> take_by_rate(
        std::chrono::steady_clock::time_point next_begin = std::chrono::steady_clock::now());
    // The same for who has one rate only.
    aggregate::CountedStacks take_counted();

    // What the stacks take that were counted since the last time.
    [[nodiscard]] std::uint64_t stack_bytes() const;
    // How often the ring buffer was read: at least ten times a second while the reader is well.
    [[nodiscard]] std::uint64_t read_count() const;
    [[nodiscard]] ResumedWalks resumed() const;

    // Ends the thread once it has read all that is in the ring buffer; sampling must have stopped.
    // Then waits up to 2 s for the tables that samples wait for; `is_in_a_hurry` is asked every few
    // milliseconds. What was counted is to be taken after it.
    void finish(const std::function<bool()>& is_in_a_hurry);

    SampleWalk(const SampleWalk&) = delete;
    SampleWalk& operator=(const SampleWalk&) = delete;
    ~SampleWalk() = default;

private:
    SampleWalk(sampler::ProcessLabelReader& labels, UnwindWalk& unwind_walk,
               CodeMapKeeper& code_maps, std::uint64_t max_stack_bytes)
        : labels_(labels),
          unwind_walk_(unwind_walk),
          code_maps_(code_maps),
          counts_(max_stack_bytes) {}
    void be_ready_to_resume(const sampler::BpfProgram& program);
    void add(std::span<const std::byte> record);
    void note_use(const aggregate::RawSample& sample);
    void add_resumed(const aggregate::RawSample& sample);
    void look_again();
    void note_counted_until(std::chrono::steady_clock::duration when);
    void run(const std::stop_token& stop);

    sampler::ProcessLabelReader& labels_;
    UnwindWalk& unwind_walk_;
    CodeMapKeeper& code_maps_;
    mutable std::mutex counts_mutex_;
    CountsByRate counts_;
    ResumedWalks resumed_;
    std::uint64_t read_count_ = 0;
    std::unique_ptr<user_walk::MappedTables> tables_;  // none: nobody waits
    std::optional<WaitingSamples> waiting_;            // the reader's, after it the finisher's
    std::optional<sampler::RingBuffer> samples_;
    std::jthread reader_;  // last: joined before the rest goes
};

}  // namespace bobbin::daemon
