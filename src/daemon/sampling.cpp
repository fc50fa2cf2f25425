// SPDX-License-Identifier: Apache-2.0
#include "daemon/sampling.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/parse_number.h"
#include "cli/system_facts.h"
#include "output/output_file.h"
#include "sampler/event_opener.h"
#include "symbolize/often_sampled.h"

namespace bobbin::daemon {
namespace {

// All of /usr/bin takes about 4 s to read on one slow core; nobody runs all of it.
constexpr std::chrono::milliseconds kPatienceForRunningFiles{20'000};
// Of --max-memory. Naming a stack takes about as much again; the rest is for files being read and
// samples that wait.
constexpr std::uint64_t kPartForStacks = 4;
// Debug files may have hundreds of MB: only for what has one sample of so many, 1 %.
constexpr std::uint64_t kSamplesPerDownload = 100;

// One descriptor is held for each executable file that is met. Not being allowed to raise the limit
// is no error: files beyond it are then lost, counted and said.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        spdlog::debug("raise RLIMIT_NOFILE: {}", std::strerror(errno));
    }
}

// Kernels before 5.11 charge BPF maps against this one; later ones do not look at it.
void raise_locked_memory_limit() {
    const rlimit unlimited{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_MEMLOCK, &unlimited) != 0) {
        spdlog::debug("raise RLIMIT_MEMLOCK: {}", std::strerror(errno));
    }
}

// For tests, and for a kernel on which the best one should ever fail: BOBBIN_TICK_PROGRAM names
// another program of bpf/profiler.bpf.c.
std::optional<sampler::TickProgram> tick_program_asked_for() {
    const char* const name = std::getenv("BOBBIN_TICK_PROGRAM");
    if (name == nullptr) return std::nullopt;
    const auto program = sampler::tick_program_named(name);
    if (!program) spdlog::warn("BOBBIN_TICK_PROGRAM: there is no program '{}'", name);
    return program;
}

// With the rights that it has, or where events are opened for it.
bool may_record(const cli::SystemFacts& facts) {
    return facts.may_record() ||
           (facts.may_load_bpf() && ::access(sampler::kEventOpenerSocket, W_OK) == 0);
}

sampler::Targets targets_of(const config::RecordConfig& config, std::optional<pid_t> command) {
    if (config.whole_machine) return {};
    sampler::Targets targets{.processes = config.pids,
                             .threads = config.tids,
                             .cgroup_ids = config.cgroup_ids,
                             .comms = config.comms};
    if (command) targets.processes.push_back(*command);
    return targets;
}

sampler::BpfOptions options_of(const config::RecordConfig& config, std::optional<pid_t> command,
                               std::size_t cpu_count) {
    return {.targets = targets_of(config, command),
            .leave_out_kernel_frames = config.scope == config::FrameScope::kUserOnly,
            .leave_out_user_frames = config.scope == config::FrameScope::kKernelOnly,
            .cpu_count = static_cast<std::uint32_t>(cpu_count),
            .tick_program = tick_program_asked_for()};
}

Result<Sampling> build_stages(const config::RecordConfig& config, sampler::BpfProgram program,
                              std::vector<int> cpus, sampler::PerfEvents events) {
    auto catalog = std::make_unique<executable::Catalog>();
    auto labels = std::make_unique<sampler::ProcessLabelReader>();
    BOBBIN_CHECK(program.attach_process_events());
    BOBBIN_TRY(auto unwind_walk,
               UnwindWalk::start(program, *catalog, config.max_unwind_memory_bytes,
                                 config.max_memory_bytes, kPatienceForRunningFiles));
    auto code_maps = std::make_unique<CodeMapKeeper>();
    BOBBIN_TRY(auto sample_walk, SampleWalk::start(program, *labels, *unwind_walk, *code_maps,
                                                   config.max_stack_bytes.value_or(
                                                       config.max_memory_bytes / kPartForStacks)));
    return Sampling{.program = std::move(program),
                    .cpus = std::move(cpus),
                    .catalog = std::move(catalog),
                    .labels = std::move(labels),
                    .unwind_walk = std::move(unwind_walk),
                    .code_maps = std::move(code_maps),
                    .sample_walk = std::move(sample_walk),
                    .events = std::move(events),
                    .name_style = config.name_style,
                    .debuginfod_urls = config.debuginfod_urls,
                    .started = {},
                    .started_steady = {}};
}

symbolize::DemangleStyle style_of(config::NameStyle style) {
    switch (style) {
        case config::NameStyle::kMangled:
            return symbolize::DemangleStyle::kNone;
        case config::NameStyle::kSimplified:
            return symbolize::DemangleStyle::kSimplified;
        case config::NameStyle::kFull:
            return symbolize::DemangleStyle::kFull;
    }
    return symbolize::DemangleStyle::kSimplified;
}

}  // namespace

tl::expected<Sampling, cli::UserError> prepare_sampling(const config::RecordConfig& config,
                                                        std::optional<pid_t> command,
                                                        std::span<const std::string> invocation) {
    const cli::SystemFacts facts = cli::read_system_facts();
    if (!may_record(facts)) return tl::unexpected(cli::explain_not_root(facts, invocation));
    if (!facts.has_btf) return tl::unexpected(cli::explain_missing_btf(facts));
    raise_descriptor_limit();
    raise_locked_memory_limit();
    auto cpus = sampler::online_cpus();
    if (!cpus) return tl::unexpected(cli::explain_failure(cpus.error()));
    auto program = sampler::BpfProgram::load(options_of(config, command, cpus->size()));
    if (!program) {
        return tl::unexpected(cli::explain_load_failure(program.error(), facts, invocation));
    }
    auto events = sampler::PerfEvents::open(*cpus, config.frequency_hz, program->tick_program_fd());
    if (!events) {
        return tl::unexpected(cli::explain_sampling_failure(events.error(), facts, invocation));
    }
    auto stages = build_stages(config, std::move(*program), std::move(*cpus), std::move(*events));
    if (!stages) {
        return tl::unexpected(cli::explain_load_failure(stages.error(), facts, invocation));
    }
    return std::move(*stages);
}

Result<> start(Sampling& sampling) {
    sampling.started = std::chrono::system_clock::now();
    sampling.started_steady = std::chrono::steady_clock::now();
    sampling.sample_walk->begin_at(sampling.started_steady);
    sampling.sample_walk->begin_rate(sampling.started_steady, sampling.period());
    return sampling.events.start();
}

Result<RecordingFacts> facts_of(const Sampling& sampling, const config::RecordConfig& config,
                                const aggregate::CountedStacks& counted) {
    // First: the kernel side counted each of these before it was walked on.
    const ResumedWalks resumed = sampling.sample_walk->resumed();
    BOBBIN_TRY(const auto counters,
               sampler::read_outcome_counts(sampling.program.outcome_counts_fd()));
    return RecordingFacts{.frequency_hz = config.frequency_hz,
                          .cpu_count = static_cast<std::uint32_t>(sampling.cpus.size()),
                          .process_count = counted.process_count,
                          .bpf_map_bytes = sampling.program.map_bytes(),
                          .counters = counters,
                          .resumed = resumed,
                          .shortened_from = counted.shortened_from,
                          .lost_files = sampling.unwind_walk->lost_files()};
}

symbolize::NameSources sources_of(symbolize::ExecutableNamer& namer, const Sampling& sampling) {
    symbolize::NameSources sources;
    sources.name_executable = [&namer](const executable::Executable& executable,
                                       std::span<const std::uint64_t> addresses) {
        return namer.name(executable, addresses);
    };
    sources.kernel.name_object = [&namer](int fd, const std::string& path,
                                          std::span<const std::uint64_t> addresses) {
        return namer.name(fd, path, {}, addresses);
    };
    sources.code_maps_of = [&sampling](const symbolize::ProcessId& process) {
        return sampling.code_maps->find(process);
    };
    sources.read_code_map = [&namer](int fd, symbolize::CodeMapKind kind,
                                     std::span<const std::uint64_t> addresses) {
        return namer.read_code_map(fd, kind, addresses);
    };
    sources.demangle = [&namer](std::span<const std::string> system_names) {
        return namer.demangle(system_names);
    };
    return sources;
}

// For tests: BOBBIN_NAMES_MILLISECONDS is how long the names of one file may take.
std::chrono::milliseconds patience_with_names() {
    const auto number = number_in_environment<unsigned>("BOBBIN_NAMES_MILLISECONDS");
    return number ? std::chrono::milliseconds{*number} : symbolize::ExecutableNamer::kPatience;
}

void prepare(symbolize::ExecutableNamer& namer, const aggregate::CountedStacks& counted,
             const Sampling& sampling) {
    namer.use(symbolize::NameCache::open(symbolize::NameCache::default_directory()));
    namer.demangle_as(style_of(sampling.name_style));
    if (sampling.debuginfod_urls.empty()) return;
    symbolize::FetchOptions options{.urls = sampling.debuginfod_urls, .user = {}};
    if (const auto user = output::sudo_user(); user && ::geteuid() == 0) {
        options.user = {.uid = user->uid, .gid = user->gid};
    }
    namer.download_for(symbolize::find_often_sampled(counted, kSamplesPerDownload),
                       std::move(options));
}

symbolize::OwnerLabels labels_of(const Sampling& sampling) {
    return [&labels = *sampling.labels](const aggregate::SampleOwner& owner,
                                        symbolize::SampleLabels& to) {
        auto of_process = labels.find(owner.pid, owner.process_start_boot_ns, owner.cgroup_id);
        to.cgroup = std::move(of_process.cgroup);
        to.unit = std::move(of_process.unit);
        to.container = std::move(of_process.container);
    };
}

NamedStacks name(const aggregate::CountedStacks& counted, const Sampling& sampling,
                 symbolize::Names names) {
    symbolize::ExecutableNamer namer(patience_with_names());
    if (names == symbolize::Names::kResolve) {
        prepare(namer, counted, sampling);
        sampling.code_maps->look_again(std::chrono::steady_clock::now() + kPatienceWithCodeMaps);
    }
    const symbolize::NameSources sources = sources_of(namer, sampling);
    NamedStacks named{.profile = symbolize::name_stacks(counted, *sampling.catalog,
                                                        labels_of(sampling), names, sources),
                      .name_losses = symbolize::describe(namer.losses())};
    if (const std::string& rights = namer.worker().rights_left(); !rights.empty()) {
        named.name_losses.push_back("read with more rights than needed: " + rights);
    }
    namer.finish();
    named.worker_cpu_time = namer.worker().cpu_time();
    return named;
}

}  // namespace bobbin::daemon
