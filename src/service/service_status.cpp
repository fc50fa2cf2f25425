// SPDX-License-Identifier: Apache-2.0
// What Service says of itself.
#include <fmt/format.h>

#include "daemon/summarize.h"
#include "service/own_cost.h"
#include "service/service.h"

namespace bobbin::service {

std::string Service::describe_state() const {
    const Status::Stored stored = store_->facts();
    const std::string paused = wishes_.paused_why();
    std::string text =
        paused.empty() ? fmt::format("sampling at {} Hz", recording_->hz()) : "paused: " + paused;
    if (paused.empty() && recording_->hz() < config_.profile.frequency_hz) {
        text += fmt::format(" instead of {}, to keep the budget", config_.profile.frequency_hz);
    }
    text += fmt::format("; {} segments, {} MiB stored", stored.segment_count, stored.bytes >> 20);
    if (stored.is_full) {
        text += " (no room)";
    } else if (stored.failed_count != 0) {
        text += fmt::format(" ({} lost)", stored.failed_count);
    }
    return text + fmt::format("; takes {:.2f} % of a CPU, {} MiB and {} MiB of maps",
                              budget_.cpu_percent(), resident_bytes_ >> 20, map_bytes_ >> 20);
}

Status Service::status() const {
    const auto progress = recording_->sampling().sample_walk->progress();
    const abi::outcome_counters counters = totals_.counters();
    Status status{.started = started_,
                  .configured_hz = config_.profile.frequency_hz,
                  .hz = recording_->hz(),
                  .paused_why = wishes_.paused_why(),
                  .ticks_by_outcome = daemon::outcomes_of(counters),
                  .stacks_by_end = totals_.walk_ends(),
                  .process_count = progress.process_count,
                  .cpu_percent = budget_.cpu_percent(),
                  .cpu_time = own_cpu_time() + child_cpu_time(),
                  .bpf_cpu_time = std::chrono::nanoseconds{counters.tick_time_ns},
                  .resident_bytes = resident_bytes_,
                  .map_bytes = map_bytes_,
                  .throttle_count = budget_.throttle_count(),
                  .naming_times = namer_->times(),
                  .stored = store_->facts(),
                  .exports = exports_->facts()};
    for (std::size_t i = 0; i < status.stacks_by_end.size(); ++i) {
        status.stacks_by_end.at(i) += progress.by_walk_end.at(i);
    }
    return status;
}

}  // namespace bobbin::service
