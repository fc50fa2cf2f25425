// SPDX-License-Identifier: Apache-2.0
#include "service/recording.h"

#include <array>
#include <string>
#include <utility>

#include "sampler/outcome_counts.h"
#include "sampler/target_cgroups.h"
#include "service/counter_sums.h"

namespace bobbin::service {

tl::expected<std::unique_ptr<Recording>, cli::UserError> Recording::start(
    const config::RecordConfig& config, std::uint32_t hz) {
    const std::array<std::string, 2> invocation{"bobbin", "daemon"};
    auto prepared = daemon::prepare_sampling(config, std::nullopt, invocation);
    if (!prepared) return tl::unexpected(std::move(prepared).error());
    std::unique_ptr<Recording> recording(
        new Recording(std::make_shared<daemon::Sampling>(std::move(*prepared)), hz));
    daemon::Sampling& sampling = *recording->sampling_;
    const auto fail = [](const Error& error) {
        return tl::unexpected(cli::explain_failure(error));
    };
    if (hz != 0) {
        if (const auto set = sampling.events.set_frequency(hz); !set) return fail(set.error());
    }
    if (const auto started = daemon::start(sampling); !started) return fail(started.error());
    if (hz == 0) {
        if (const auto stopped = sampling.events.stop(); !stopped) return fail(stopped.error());
    }
    recording->part_begin_ = sampling.started_steady;
    recording->part_begin_wall_ = sampling.started;
    return recording;
}

Result<abi::outcome_counters> Recording::counters() const {
    return sampler::read_outcome_counts(sampling_->program.outcome_counts_fd());
}

Result<Part> Recording::cut() {
    const auto now = std::chrono::steady_clock::now();
    const auto now_wall = std::chrono::system_clock::now();
    daemon::SampleWalk& walk = *sampling_->sample_walk;
    const std::uint64_t stack_bytes = walk.stack_bytes();
    Part part{.sampling = sampling_,
              .stack_bytes = stack_bytes,
              .by_rate = walk.take_by_rate(now),
              .begin = std::exchange(part_begin_wall_, now_wall),
              .duration = now - std::exchange(part_begin_, now),
              .resumed = walk.resumed()};
    BOBBIN_TRY(part.counters, counters());
    part.resumed = difference(part.resumed, std::exchange(resumed_, part.resumed));
    part.counters = difference(part.counters, std::exchange(counters_, part.counters));
    return part;
}

// Between stop and start no sample is taken, so each one's time tells its rate.
Result<> Recording::change_rate(std::uint32_t hz) {
    sampler::PerfEvents& events = sampling_->events;
    if (std::exchange(hz_, 0) != 0) BOBBIN_CHECK(events.stop());
    if (hz == 0) return {};
    BOBBIN_CHECK(events.set_frequency(hz));
    sampling_->sample_walk->begin_rate(std::chrono::steady_clock::now(), sampling_->period());
    BOBBIN_CHECK(events.start());
    hz_ = hz;
    return {};
}

Result<Part> Recording::finish(const std::function<bool()>& is_in_a_hurry) {
    BOBBIN_CHECK(change_rate(0));
    sampling_->sample_walk->finish(is_in_a_hurry);
    return cut();
}

Result<> Recording::follow_cgroups(const std::vector<std::uint64_t>& ids) {
    return sampler::replace_target_cgroups(sampling_->program, ids);
}

}  // namespace bobbin::service
