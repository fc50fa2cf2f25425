// SPDX-License-Identifier: Apache-2.0
#include "daemon/sample_walk.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

namespace bobbin::daemon {
namespace {

// The ring holds several of these at the highest rate (sampler/bpf_program.cpp).
constexpr std::chrono::milliseconds kReadInterval{100};

}  // namespace

Result<std::unique_ptr<SampleWalk>> SampleWalk::start(const sampler::BpfProgram& program,
                                                      sampler::ProcessLabelReader& labels) {
    std::unique_ptr<SampleWalk> walk(new SampleWalk(labels));
    BOBBIN_TRY(auto samples,
               sampler::RingBuffer::open(
                   program.samples_fd(),
                   [&self = *walk](std::span<const std::byte> record) { self.add(record); }));
    walk->samples_ = std::move(samples);
    walk->reader_ = std::jthread([&self = *walk](std::stop_token stop) { self.run(stop); });
    return walk;
}

void SampleWalk::add(std::span<const std::byte> record) {
    const auto sample = aggregate::parse_sample(record);
    if (!sample) {
        spdlog::error("a sample of {} bytes is shorter than its header says", record.size());
        return;
    }
    labels_.notice(*sample->header);
    const std::scoped_lock lock(counts_mutex_);
    counts_.add(*sample);
}

void SampleWalk::run(const std::stop_token& stop) {
    while (true) {
        // Asked before reading: what was written before the stop is read after it.
        const bool last = stop.stop_requested();
        if (const auto read = samples_->read(last ? std::chrono::milliseconds{0} : kReadInterval);
            !read) {
            spdlog::error("{}", read.error().message());
            return;
        }
        if (last) return;
    }
}

SampleWalk::Progress SampleWalk::progress() const {
    const std::scoped_lock lock(counts_mutex_);
    const auto& counted = counts_.counted();
    return {.sample_count = counted.sample_count,
            .complete_count = counted.by_walk_end[abi::WALK_END_BOTTOM] +
                              counted.by_walk_end[abi::WALK_END_NO_USER_STACK] +
                              counted.by_walk_end[abi::WALK_END_NOT_ASKED],
            .process_count = counted.process_count};
}

aggregate::CountedStacks SampleWalk::snapshot() const {
    const std::scoped_lock lock(counts_mutex_);
    return counts_.counted();
}

aggregate::CountedStacks SampleWalk::finish() {
    reader_.request_stop();
    reader_.join();
    const std::scoped_lock lock(counts_mutex_);
    return counts_.take();
}

}  // namespace bobbin::daemon
