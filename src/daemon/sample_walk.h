// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>

#include "aggregate/stack_counts.h"
#include "base/result.h"
#include "bobbin/bpf_abi.h"
#include "daemon/code_map_keeper.h"
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

    // The moment the recording began: samples say when they came from then on.
    void begin_at(std::chrono::steady_clock::time_point start);

    struct Progress {
        std::uint64_t sample_count = 0;
        std::uint64_t complete_count = 0;
        std::uint64_t process_count = 0;
        std::array<std::uint64_t, abi::WALK_END_COUNT> by_walk_end{};
    };
    [[nodiscard]] Progress progress() const;

    // A copy of what was counted so far; sampling goes on, and what waits is counted later.
    [[nodiscard]] aggregate::CountedStacks snapshot() const;

    // Hands over what was counted since the last time; sampling goes on, and what waits for tables
    // comes the next time or later. progress() and finish() then tell of what came since, and times
    // are counted from `next_begin`.
    aggregate::CountedStacks take_counted(
        std::chrono::steady_clock::time_point next_begin = std::chrono::steady_clock::now());

    // What the stacks take that were counted since the last time.
    [[nodiscard]] std::uint64_t stack_bytes() const;
    // How often the ring buffer was read: at least ten times a second while the reader is well.
    [[nodiscard]] std::uint64_t read_count() const;
    // Returns once all is read that was in the ring buffer before the call. False: it took longer
    // than `patience`.
    bool wait_until_read(std::chrono::milliseconds patience);

    [[nodiscard]] ResumedWalks resumed() const;

    // Ends the thread once it has read all that is in the ring buffer; sampling must have stopped.
    // Then waits up to 2 s for the tables that samples wait for; `is_in_a_hurry` is asked every few
    // milliseconds.
    aggregate::CountedStacks finish(const std::function<bool()>& is_in_a_hurry);

    SampleWalk(const SampleWalk&) = delete;
    SampleWalk& operator=(const SampleWalk&) = delete;
    ~SampleWalk() = default;

private:
    SampleWalk(sampler::ProcessLabelReader& labels, UnwindWalk& unwind_walk,
               CodeMapKeeper& code_maps, std::uint64_t max_stack_bytes)
        : labels_(labels),
          unwind_walk_(unwind_walk),
          code_maps_(code_maps),
          counts_(aggregate::hash_of, max_stack_bytes) {}
    void be_ready_to_resume(const sampler::BpfProgram& program);
    void add(std::span<const std::byte> record);
    void note_use(const aggregate::RawSample& sample);
    void add_resumed(const aggregate::RawSample& sample);
    void look_again();
    void note_read();
    void run(const std::stop_token& stop);

    sampler::ProcessLabelReader& labels_;
    UnwindWalk& unwind_walk_;
    CodeMapKeeper& code_maps_;
    mutable std::mutex counts_mutex_;
    aggregate::StackCounts counts_;
    ResumedWalks resumed_;
    std::uint64_t read_count_ = 0;
    std::condition_variable was_read_;                 // with counts_mutex_
    std::unique_ptr<user_walk::MappedTables> tables_;  // none: nobody waits
    std::optional<WaitingSamples> waiting_;            // the reader's, after it the finisher's
    std::optional<sampler::RingBuffer> samples_;
    std::jthread reader_;  // last: joined before the rest goes
};

}  // namespace bobbin::daemon
