// SPDX-License-Identifier: Apache-2.0
#include "daemon/progress_line.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "cli/record_summary.h"
#include "cli/standard_output.h"
#include "sampler/outcome_counts.h"

namespace bobbin::daemon {
namespace {

// Back to the first column and erase to the end: ECMA-48 EL.
constexpr const char* kRewind = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(const Sampling& sampling, const config::RecordConfig& config)
    : sampling_(sampling), enabled_(!config.quiet && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show() {
    if (!enabled_) return;
    const auto counted = sampling_.sample_walk->progress();
    const auto counters = sampler::read_outcome_counts(sampling_.program.outcome_counts_fd());
    const cli::Progress progress{
        .elapsed = std::chrono::steady_clock::now() - sampling_.started_steady,
        .sample_count = counted.sample_count,
        .complete_count = counted.complete_count,
        .lost_count = counters ? cli::lost_ticks(outcomes_of(*counters)) : 0,
        .process_count = counted.process_count};
    (void)cli::write_text(stderr, kRewind + cli::describe(progress));
    shown_ = true;
}

void ProgressLine::clear() {
    if (shown_) (void)cli::write_text(stderr, kRewind);
    shown_ = false;
}

}  // namespace bobbin::daemon
