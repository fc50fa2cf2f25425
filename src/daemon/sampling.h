// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/errors.h"
#include "config/record_config.h"
#include "daemon/code_map_keeper.h"
#include "daemon/sample_walk.h"
#include "daemon/summarize.h"
#include "daemon/unwind_walk.h"
#include "executable/catalog.h"
#include "sampler/bpf_program.h"
#include "sampler/outcome_counts.h"
#include "sampler/perf_events.h"
#include "sampler/process_labels.h"
#include "symbolize/executable_namer.h"
#include "symbolize/name_stacks.h"

namespace bobbin::daemon {

// The stages of both walks, in the order they are built and so torn down in reverse. Passive: the
// walks run by themselves, record.cpp and top.cpp say when to start and stop.
struct Sampling {
    sampler::BpfProgram program;
    std::vector<int> cpus;
    std::unique_ptr<executable::Catalog> catalog;
    std::unique_ptr<sampler::ProcessLabelReader> labels;
    std::unique_ptr<UnwindWalk> unwind_walk;
    std::unique_ptr<CodeMapKeeper> code_maps;
    std::unique_ptr<SampleWalk> sample_walk;
    sampler::PerfEvents events;
    config::NameStyle name_style = config::NameStyle::kSimplified;
    std::string debuginfod_urls;
    std::chrono::system_clock::time_point started;
    std::chrono::steady_clock::time_point started_steady;

    // What one sample stands for, at the rate as it is.
    [[nodiscard]] std::chrono::nanoseconds period() const {
        return std::chrono::nanoseconds{std::chrono::seconds{1}} / events.frequency_hz();
    }
};

// Loads the programs, publishes what runs already and opens the events, which do not tick yet.
// `command`: the process that is to become config.command.
tl::expected<Sampling, cli::UserError> prepare_sampling(const config::RecordConfig& config,
                                                        std::optional<pid_t> command,
                                                        std::span<const std::string> invocation);

Result<> start(Sampling& sampling);

// The counters and sizes as they are now.
Result<RecordingFacts> facts_of(const Sampling& sampling, const config::RecordConfig& config,
                                const aggregate::CountedStacks& counted);

// Who is asked for names: the process without rights of `namer`. Both have to outlive it.
symbolize::NameSources sources_of(symbolize::ExecutableNamer& namer, const Sampling& sampling);

// Labels from the cgroups of processes.
symbolize::OwnerLabels labels_of(const Sampling& sampling);

// Has `namer` write names as was asked for, use the cache, and download what `counted` has often.
void prepare(symbolize::ExecutableNamer& namer, const aggregate::CountedStacks& counted,
             const Sampling& sampling);
// How long the names of one file may take.
std::chrono::milliseconds patience_with_names();
// How long to wait for files of living processes that name their generated code; most are open.
inline constexpr std::chrono::seconds kPatienceWithCodeMaps{2};

struct NamedStacks {
    // Times, period and comments are still to be filled by the caller.
    symbolize::NamedProfile profile;
    std::vector<std::string> name_losses;         // for people, a line each
    std::chrono::microseconds worker_cpu_time{};  // of the process that read the names
};
NamedStacks name(const aggregate::CountedStacks& counted, const Sampling& sampling,
                 symbolize::Names names);

}  // namespace bobbin::daemon
