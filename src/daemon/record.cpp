// SPDX-License-Identifier: Apache-2.0
#include "daemon/record.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/errors.h"
#include "cli/exit_status.h"
#include "cli/launch_command.h"
#include "cli/standard_output.h"
#include "daemon/name_interruptibly.h"
#include "daemon/progress_line.h"
#include "daemon/sampling.h"
#include "daemon/signals.h"
#include "daemon/wait_for_end.h"
#include "sampler/pid_namespace.h"

namespace bobbin::daemon {
namespace {

int say(const cli::UserError& error, const config::RecordConfig& config) {
    cli::print(error);
    // env(1) keeps 1 for the command's own use.
    const bool plain_failure = error.exit_status == cli::kExitFailure;
    return plain_failure && !config.command.empty() ? cli::kExitRecordFailed : error.exit_status;
}

// Completes the profile with what only the recording knows, and gives its summary.
cli::RecordSummary complete(NamedStacks& named, const Sampling& sampling,
                            const RecordingFacts& facts, std::chrono::nanoseconds duration) {
    symbolize::NamedProfile& profile = named.profile;
    profile.period = sampling.period();
    for (symbolize::NamedStack& stack : profile.stacks) {
        stack.value = stack.count * static_cast<std::uint64_t>(profile.period.count());
    }
    profile.started = sampling.started;
    profile.duration = duration;
    cli::RecordSummary summary = summarize(profile, *sampling.catalog, facts);
    summary.name_losses = named.name_losses;
    summary.own_cpu_time += named.worker_cpu_time;
    profile.comments = cli::describe(summary);
    profile.comments.push_back(
        describe_accounting(facts.counters, facts.resumed, facts.shortened_from));
    return summary;
}

Result<> write_files(const symbolize::NamedProfile& profile, const config::RecordConfig& config,
                     cli::RecordSummary& summary) {
    for (const output::OutputFile& output : config.outputs) {
        BOBBIN_TRY(auto written, output.write(profile, output::sudo_user()));
        summary.files.push_back(std::move(written));
    }
    return {};
}

// A standard error that takes nothing more is no reason to lose the profile.
void tell(std::string_view text) { (void)cli::write_text(stderr, text); }

// False: standard output did not take it.
bool print_summary(const cli::RecordSummary& summary, const config::RecordConfig& config) {
    if (config.summary_as_json) return cli::answer(cli::to_json(summary)) == cli::kExitOk;
    if (config.quiet) return true;
    std::string text;
    for (const std::string& line : cli::describe(summary)) text.append(line).append("\n");
    tell(text);
    return true;
}

// SIGUSR2: writes what there is and goes on sampling.
void write_snapshot(const Sampling& sampling, const config::RecordConfig& config) {
    const auto counted = sampling.sample_walk->snapshot();
    const auto duration = std::chrono::steady_clock::now() - sampling.started_steady;
    auto named = name(counted, sampling, symbolize::Names::kResolve);
    const auto facts = facts_of(sampling, config, counted);
    if (!facts) return cli::print(cli::explain_failure(facts.error()));
    auto summary = complete(named, sampling, *facts, duration);
    if (const auto written = write_files(named.profile, config, summary); !written) {
        return cli::print(cli::explain_failure(written.error()));
    }
    if (!config.quiet) tell("bobbin: wrote a snapshot; sampling goes on\n");
}

struct Finish {
    int exit_status = cli::kExitOk;
    bool in_a_hurry = false;  // threads that still name are left behind
};

// Stops the clocks, names, writes and says what came of it.
Finish finish(Sampling& sampling, const config::RecordConfig& config, Signals& signals) {
    const auto failed = [&config](const Error& error) {
        return Finish{.exit_status = say(cli::explain_failure(error), config)};
    };
    if (const auto stopped = sampling.events.stop(); !stopped) return failed(stopped.error());
    const auto duration = std::chrono::steady_clock::now() - sampling.started_steady;
    sampling.sample_walk->finish([&signals] { return signals.is_one_waiting(); });
    const auto counted = sampling.sample_walk->take_counted();
    const auto facts = facts_of(sampling, config, counted);
    if (!facts) return failed(facts.error());
    auto named = name_interruptibly(counted, sampling, signals);
    if (named.aborted) std::_Exit(cli::kExitAborted);
    auto summary = complete(named.stacks, sampling, *facts, duration);
    if (const auto written = write_files(named.stacks.profile, config, summary); !written) {
        return {.exit_status = failed(written.error()).exit_status,
                .in_a_hurry = named.names_skipped};
    }
    const bool is_told = print_summary(summary, config);
    return {.exit_status = is_told ? cli::kExitOk : cli::kExitFailure,
            .in_a_hurry = named.names_skipped};
}

std::optional<cli::UserError> open_gate(cli::LaunchedCommand& command,
                                        const config::RecordConfig& config) {
    const auto started = command.start();
    if (started) return std::nullopt;
    return cli::explain_command_failure(started.error(), config.command.front());
}

// The end of all processes and threads that were named ends the recording, unless something else
// was asked for that may come back at any time.
bool ends_with_its_targets(const config::RecordConfig& config) {
    return config.command.empty() && config.cgroup_ids.empty() && config.comms.empty();
}

int run(const config::RecordConfig& config, std::span<const std::string> invocation,
        Signals& signals, std::optional<cli::LaunchedCommand>& command) {
    std::optional<pid_t> command_pid;
    if (command) command_pid = sampler::number_in_proc(command->pidfd()).value_or(command->pid());
    auto sampling = prepare_sampling(config, command_pid, invocation);
    if (!sampling) return say(sampling.error(), config);
    if (const auto started = start(*sampling); !started) {
        return say(cli::explain_failure(started.error()), config);
    }
    if (command) {
        if (const auto error = open_gate(*command, config)) return say(*error, config);
    }
    ProgressLine progress(*sampling, config);
    const bool waits = ends_with_its_targets(config);
    const EndWatch watch{.signals = signals,
                         .command = command ? &*command : nullptr,
                         .processes = waits ? config.pids : std::vector<pid_t>{},
                         .threads = waits ? config.tids : std::vector<pid_t>{},
                         .duration = config.duration};
    const Result<> ended =
        wait_for_end(watch, {.each_second =
                                 [&] {
                                     sampling->events.follow_online_cpus();
                                     progress.show();
                                 },
                             .snapshot = [&] { write_snapshot(*sampling, config); }});
    progress.clear();
    if (!ended) return say(cli::explain_failure(ended.error()), config);
    const Finish finished = finish(*sampling, config, signals);
    int exit_status = finished.exit_status;
    if (command && exit_status == cli::kExitOk) exit_status = wait_for_command(*command, signals);
    if (finished.in_a_hurry) std::_Exit(exit_status);
    return exit_status;
}

}  // namespace

int record(const config::RecordConfig& config, std::span<const std::string> invocation) {
    auto signals = Signals::open();
    if (!signals) return say(cli::explain_failure(signals.error()), config);
    std::optional<cli::LaunchedCommand> command;
    if (!config.command.empty()) {
        // Forked before any thread of ours exists.
        auto prepared = cli::LaunchedCommand::prepare(config.command, output::sudo_user());
        if (!prepared) return say(cli::explain_failure(prepared.error()), config);
        command.emplace(std::move(*prepared));
    }
    return run(config, invocation, *signals, command);
}

}  // namespace bobbin::daemon
