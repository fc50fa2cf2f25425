// SPDX-License-Identifier: Apache-2.0
#include "daemon/sample_walk.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <shared_mutex>
#include <utility>

#include "user_walk/walk_on.h"

namespace bobbin::daemon {
namespace {

// The ring holds several of these at the highest rate (sampler/bpf_program.cpp).
constexpr std::chrono::milliseconds kReadInterval{100};

// After the last sample: how long tables may still be waited for, and how often somebody may ask
// for haste meanwhile.
constexpr std::chrono::seconds kPatienceWithFiles{2};
constexpr std::chrono::milliseconds kHasteInterval{20};

}  // namespace

Result<std::unique_ptr<SampleWalk>> SampleWalk::start(const sampler::BpfProgram& program,
                                                      sampler::ProcessLabelReader& labels,
                                                      UnwindWalk& unwind_walk,
                                                      CodeMapKeeper& code_maps,
                                                      std::uint64_t max_stack_bytes) {
    std::unique_ptr<SampleWalk> walk(
        new SampleWalk(labels, unwind_walk, code_maps, max_stack_bytes));
    walk->be_ready_to_resume(program);
    BOBBIN_TRY(auto samples,
               sampler::RingBuffer::open(
                   program.samples_fd(),
                   [&self = *walk](std::span<const std::byte> record) { self.add(record); }));
    walk->samples_ = std::move(samples);
    walk->reader_ = std::jthread([&self = *walk](std::stop_token stop) { self.run(stop); });
    return walk;
}

// Without it samples that come before their tables stay as the kernel side left them.
void SampleWalk::be_ready_to_resume(const sampler::BpfProgram& program) {
    auto tables = user_walk::MappedTables::open(
        {.executables_fd = program.executables_fd(),
         .special_rules_fd = program.special_rules_fd(),
         .macros_fd = program.macros_fd(),
         .words_of_bucket =
             [&walk = unwind_walk_](std::uint32_t bucket) { return walk.bucket_words(bucket); },
         .generation = program.rule_generation()});
    if (!tables) {
        spdlog::info("no walk can be resumed: {}", tables.error().message());
        return;
    }
    tables_ = std::move(*tables);
    const auto state_of = [this](std::uint32_t id) { return unwind_walk_.feed().state_of(id); };
    waiting_.emplace(WaitingSamples::Steps{
        .state_of = state_of,
        .walk_on =
            [this, state_of](user_walk::PausedWalk& walk, std::uint32_t most_frames) {
                const std::shared_lock tables_stay(unwind_walk_.feed().tables_in_use());
                return user_walk::walk_on(*tables_, walk, most_frames, state_of);
            },
        .finished = [this](const aggregate::RawSample& sample) { add_resumed(sample); }});
}

void SampleWalk::add(std::span<const std::byte> record) {
    const auto sample = aggregate::parse_sample(record);
    if (!sample) {
        spdlog::error("a sample of {} bytes is shorter than its header says", record.size());
        return;
    }
    labels_.notice(*sample->header);
    if (waiting_ && !sample->paused_walk.empty() &&
        waiting_->keep(record, std::chrono::steady_clock::now())) {
        return;
    }
    note_use(*sample);
    const std::scoped_lock lock(counts_mutex_);
    counts_.add(*sample);
}

void SampleWalk::note_use(const aggregate::RawSample& sample) {
    unwind_walk_.feed().last_sampled().note(sample.user_frames,
                                            std::chrono::nanoseconds{sample.header->time_ns});
    code_maps_.notice(sample);
}

void SampleWalk::add_resumed(const aggregate::RawSample& sample) {
    note_use(sample);
    const std::scoped_lock lock(counts_mutex_);
    counts_.add(sample);
    const auto end = sample.header->walk_end;
    if (end != abi::WALK_END_FILE_NOT_READY) ++resumed_.by_walk_end.at(end);
}

void SampleWalk::look_again() {
    if (!waiting_) return;
    waiting_->look_again(std::chrono::steady_clock::now());
    const std::scoped_lock lock(counts_mutex_);
    resumed_.displaced_count = waiting_->displaced_count();
}

void SampleWalk::run(const std::stop_token& stop) {
    while (true) {
        // Asked before reading: what was written before the stop is read after it.
        const bool last = stop.stop_requested();
        const auto begun = std::chrono::steady_clock::now().time_since_epoch();
        if (const auto read = samples_->read(last ? std::chrono::milliseconds{0} : kReadInterval);
            !read) {
            spdlog::error("{}", read.error().message());
            return;
        }
        look_again();
        note_counted_until(waiting_ ? waiting_->oldest_time(begun) : begun);
        if (last) return;
    }
}

void SampleWalk::note_counted_until(std::chrono::steady_clock::duration when) {
    unwind_walk_.feed().note_counted_until(when);
    const std::scoped_lock lock(counts_mutex_);
    counts_.note_counted_until(when);
    ++read_count_;
}

std::uint64_t SampleWalk::read_count() const {
    const std::scoped_lock lock(counts_mutex_);
    return read_count_;
}

std::uint64_t SampleWalk::stack_bytes() const {
    const std::scoped_lock lock(counts_mutex_);
    return counts_.bytes();
}

// libstdc++'s steady_clock is CLOCK_MONOTONIC, as are the times of samples.
void SampleWalk::begin_at(std::chrono::steady_clock::time_point start) {
    const std::scoped_lock lock(counts_mutex_);
    counts_.begin_at(start.time_since_epoch());
}

void SampleWalk::begin_rate(std::chrono::steady_clock::time_point since,
                            std::chrono::nanoseconds period) {
    const std::scoped_lock lock(counts_mutex_);
    counts_.begin_rate(since.time_since_epoch(), period);
}

SampleWalk::Progress SampleWalk::progress() const {
    const std::scoped_lock lock(counts_mutex_);
    Progress progress;
    for (const aggregate::CountedStacks* const counted : counts_.counted()) {
        progress.sample_count += counted->sample_count;
        // Of the rate as it is: few processes are of another alone.
        progress.process_count = counted->process_count;
        for (std::size_t i = 0; i < progress.by_walk_end.size(); ++i) {
            progress.by_walk_end.at(i) += counted->by_walk_end.at(i);
        }
    }
    progress.complete_count = progress.by_walk_end[abi::WALK_END_BOTTOM] +
                              progress.by_walk_end[abi::WALK_END_NO_USER_STACK] +
                              progress.by_walk_end[abi::WALK_END_NOT_ASKED];
    return progress;
}

aggregate::CountedStacks SampleWalk::snapshot() const {
    const std::scoped_lock lock(counts_mutex_);
    return *counts_.counted().back();
}

std::vector<RateCounts> SampleWalk::take_by_rate(std::chrono::steady_clock::time_point next_begin) {
    const std::scoped_lock lock(counts_mutex_);
    return counts_.take(next_begin.time_since_epoch());
}

aggregate::CountedStacks SampleWalk::take_counted() {
    return std::move(take_by_rate().back().counted);
}

ResumedWalks SampleWalk::resumed() const {
    const std::scoped_lock lock(counts_mutex_);
    return resumed_;
}

void SampleWalk::finish(const std::function<bool()>& is_in_a_hurry) {
    reader_.request_stop();
    reader_.join();
    look_again();
    const auto deadline = std::chrono::steady_clock::now() + kPatienceWithFiles;
    bool all_told = false;
    while (waiting_ && waiting_->count() != 0 && !all_told && !is_in_a_hurry()) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= deadline) break;
        all_told = unwind_walk_.wait_until_nothing_pending(
            std::min<std::chrono::steady_clock::time_point>(deadline, now + kHasteInterval));
        look_again();
    }
    if (waiting_) waiting_->give_up();
}

}  // namespace bobbin::daemon
