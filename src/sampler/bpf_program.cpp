// SPDX-License-Identifier: Apache-2.0
#include "sampler/bpf_program.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <profiler.skel.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/parse_number.h"
#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"
#include "sampler/mapping_self_test.h"
#include "sampler/pid_namespace.h"

namespace bobbin::sampler {
namespace {

// At 99 Hz a CPU fills 100 KB/s with deep stacks; the reader looks every 100 ms. 10,000 Hz fits
// too.
constexpr std::uint32_t kSamplesBytesPerCpu = 1U << 20;
constexpr std::uint32_t kMinSamplesBytes = 4U << 20;
constexpr std::uint32_t kMaxSamplesBytes = 64U << 20;

bool kernel_has_helper(bpf_func_id helper) {
    return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper, nullptr) == 1;
}

// "task_vma" since 5.12.
bool kernel_has_iterator(const char* context) {
    btf* const kernel = btf__load_vmlinux_btf();
    const bool has =
        kernel != nullptr && btf__find_by_name_kind(kernel, context, BTF_KIND_STRUCT) > 0;
    btf__free(kernel);
    return has;
}

void choose_programs(profiler_bpf& skeleton, TickProgram tick_program) {
    const bool tail_calls = tick_program == TickProgram::kTailCalls;
    bpf_program__set_autoload(skeleton.progs.on_tick, tick_program == TickProgram::kLoop);
    bpf_program__set_autoload(skeleton.progs.on_tick_tail_calls, tail_calls);
    bpf_program__set_autoload(skeleton.progs.continue_walk, tail_calls);
    bpf_program__set_autoload(skeleton.progs.on_tick_find_vma,
                              tick_program == TickProgram::kFindVma);
    bpf_program__set_autoload(skeleton.progs.announce_mapped_file,
                              kernel_has_iterator("bpf_iter__task_vma"));
    bpf_program__set_autoload(skeleton.progs.find_shown_namespace,
                              skeleton.rodata->numbers_are_translated != 0);
}

// From here on processes are known by the numbers that /proc shows.
Result<> find_shown_namespace(const profiler_bpf& skeleton) {
    if (skeleton.rodata->numbers_are_translated == 0) return {};
    std::uint64_t context[1] = {levels_below_proc()};
    LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context, .ctx_size_in = sizeof(context));
    const int program = bpf_program__fd(skeleton.progs.find_shown_namespace);
    if (bpf_prog_test_run_opts(program, &options) == 0) return {};
    return fail_with(errno, "find the pid namespace of /proc");
}

// What is not asked for costs neither instructions nor memory: the verifier knows these values.
void choose_targets(profiler_bpf& skeleton, const Targets& targets) {
    const std::uint32_t kinds = targets.kinds();
    auto& rodata = *skeleton.rodata;
    rodata.only_targets = kinds;
    rodata.target_comm_count = static_cast<__u32>(targets.comms.size());
    for (std::size_t i = 0; i < targets.comms.size(); ++i) {
        const CommPattern pattern = parse_comm_pattern(targets.comms[i]);
        std::ranges::copy(pattern.bits, std::begin(rodata.target_comm_bits[i]));
        std::ranges::copy(pattern.mask, std::begin(rodata.target_comm_masks[i]));
    }
    const auto shrink_without = [&](std::uint32_t kind, bpf_map* map) {
        if ((kinds & kind) == 0) bpf_map__set_max_entries(map, 1);
    };
    bpf_program__set_autoload(skeleton.progs.choose_running_thread, kinds != 0);
    shrink_without(abi::TARGET_PROCESSES, skeleton.maps.target_processes);
    shrink_without(abi::TARGET_THREADS, skeleton.maps.target_threads);
    shrink_without(abi::TARGET_CGROUPS, skeleton.maps.target_cgroups);
    shrink_without(abi::TARGET_CGROUPS, skeleton.maps.cgroup_verdicts);
}

template <class Key>
Result<> add_to_set(int map_fd, const Key& key) {
    const __u8 present = 1;
    if (bpf_map_update_elem(map_fd, &key, &present, BPF_ANY) == 0) return {};
    return fail_with(errno, "choose target {}", key);
}

// Runs an iterator program over all that it iterates over. It writes nothing; reading to the end is
// what makes it run.
Result<> run_iterator(bpf_program* program, bpf_link*& link) {
    if (link == nullptr) link = bpf_program__attach_iter(program, nullptr);
    if (link == nullptr) return fail_with(errno, "attach {}", bpf_program__name(program));
    const UniqueFd iterator(bpf_iter_create(bpf_link__fd(link)));
    if (!iterator.is_open()) return fail_with(errno, "run {}", bpf_program__name(program));
    std::array<char, 256> nothing{};
    ssize_t length = 0;
    do {
        length = ::read(iterator.get(), nothing.data(), nothing.size());
    } while (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR)));
    if (length < 0) return fail_with(errno, "run {}", bpf_program__name(program));
    return {};
}

std::uint32_t samples_bytes(std::uint32_t cpu_count) {
    const std::uint64_t wanted = std::uint64_t{cpu_count} * kSamplesBytesPerCpu;
    return std::bit_ceil(static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(wanted, kMinSamplesBytes, kMaxSamplesBytes)));
}

// Ids below FIRST_FILE_EXECUTABLE_ID have a fixed meaning. For tests: BOBBIN_EXECUTABLE_IDS is how
// many there are.
std::size_t executable_ids() {
    constexpr std::size_t kMost = abi::MAX_EXECUTABLES - FIRST_FILE_EXECUTABLE_ID;
    const auto asked_for = number_in_environment<std::size_t>("BOBBIN_EXECUTABLE_IDS");
    return std::clamp<std::size_t>(asked_for.value_or(kMost), 1, kMost);
}

Result<> fill_free_ids(int queue_fd) {
    const std::size_t end = FIRST_FILE_EXECUTABLE_ID + executable_ids();
    for (__u32 id = FIRST_FILE_EXECUTABLE_ID; id < end; ++id) {
        if (bpf_map_update_elem(queue_fd, nullptr, &id, BPF_ANY) != 0) {
            return fail_with(errno, "fill the queue of executable ids");
        }
    }
    return {};
}

// "memlock:\t4210688" in the map's fdinfo: what the kernel charges for it.
std::uint64_t charged_bytes(int map_fd) {
    std::ifstream fdinfo(fmt::format("/proc/self/fdinfo/{}", map_fd));
    for (std::string line; std::getline(fdinfo, line);) {
        if (line.starts_with("memlock:")) return std::stoull(line.substr(line.find_last_of("\t ")));
    }
    return 0;
}

std::uint64_t charged_bytes_of_buckets(int buckets_fd) {
    std::uint64_t bytes = 0;
    for (__u32 index = 0; index < abi::MAX_BUCKETS; ++index) {
        __u32 map_id = 0;
        if (bpf_map_lookup_elem(buckets_fd, &index, &map_id) != 0) continue;
        const UniqueFd bucket(bpf_map_get_fd_by_id(map_id));
        // Reading by id wants CAP_SYS_ADMIN; a bucket is charged by its size and some pages.
        bytes += bucket.is_open() ? charged_bytes(bucket.get()) : std::uint64_t{abi::BUCKET_BYTES};
    }
    return bytes;
}

// For tests and measurements: BOBBIN_RULE_MEMORY is on, off or check.
std::optional<RuleMemory> rule_memory_asked_for() {
    const char* const name = std::getenv("BOBBIN_RULE_MEMORY");
    if (name == nullptr) return std::nullopt;
    const auto memory = rule_memory_named(name);
    if (!memory) spdlog::warn("BOBBIN_RULE_MEMORY: '{}' is not on, off or check", name);
    return memory;
}

int log_from_libbpf(libbpf_print_level level, const char* format, va_list arguments) {
    std::array<char, 1024> line{};
    std::vsnprintf(line.data(), line.size(), format, arguments);
    std::string_view text(line.data());
    while (text.ends_with('\n')) text.remove_suffix(1);
    spdlog::log(level == LIBBPF_DEBUG ? spdlog::level::trace : spdlog::level::debug, "{}", text);
    return 0;
}

}  // namespace

const char* name_of(TickProgram program) {
    switch (program) {
        case TickProgram::kLoop:
            return "on_tick";
        case TickProgram::kTailCalls:
            return "on_tick_tail_calls";
        case TickProgram::kFindVma:
            return "on_tick_find_vma";
    }
    return "";
}

std::optional<TickProgram> tick_program_named(std::string_view name) {
    for (const TickProgram program :
         {TickProgram::kLoop, TickProgram::kTailCalls, TickProgram::kFindVma}) {
        if (name == name_of(program)) return program;
    }
    return std::nullopt;
}

std::optional<RuleMemory> rule_memory_named(std::string_view name) {
    if (name == "on") return RuleMemory::kOn;
    if (name == "off") return RuleMemory::kOff;
    if (name == "check") return RuleMemory::kChecked;
    return std::nullopt;
}

void BpfProgram::SkeletonDeleter::operator()(profiler_bpf* skeleton) const {
    profiler_bpf__destroy(skeleton);
}

BpfProgram::BpfProgram(Skeleton skeleton, TickProgram tick_program, std::string fallback_reason)
    : skeleton_(std::move(skeleton)),
      tick_program_(tick_program),
      fallback_reason_(std::move(fallback_reason)),
      executable_id_count_(executable_ids()) {}
BpfProgram::BpfProgram(BpfProgram&&) noexcept = default;
BpfProgram& BpfProgram::operator=(BpfProgram&&) noexcept = default;
BpfProgram::~BpfProgram() = default;

Result<BpfProgram::Skeleton> BpfProgram::load_with(const BpfOptions& options,
                                                   TickProgram tick_program) {
    Skeleton skeleton(profiler_bpf__open());
    if (!skeleton) return fail_with(errno, "open the BPF object");
    choose_targets(*skeleton, options.targets);
    skeleton->rodata->leave_out_kernel_frames = options.leave_out_kernel_frames;
    skeleton->rodata->leave_out_user_frames = options.leave_out_user_frames;
    const RuleMemory memory = rule_memory_asked_for().value_or(options.rule_memory);
    skeleton->rodata->use_rule_memory = memory != RuleMemory::kOff;
    skeleton->rodata->check_rule_memory = memory == RuleMemory::kChecked;
    skeleton->rodata->numbers_are_translated = !is_in_root_pid_namespace();
    choose_programs(*skeleton, tick_program);
    bpf_map__set_max_entries(skeleton->maps.samples, samples_bytes(options.cpu_count));
    // By number of the CPU, which may be one that is not online now.
    bpf_map__set_max_entries(skeleton->maps.paused_records,
                             static_cast<__u32>(std::max(1, libbpf_num_possible_cpus())));
    if (const int status = profiler_bpf__load(skeleton.get()); status != 0) {
        return fail_with(status, "load the BPF programs ({})", name_of(tick_program));
    }
    if (tick_program == TickProgram::kTailCalls) {
        const __u32 index = 0;
        const int program = bpf_program__fd(skeleton->progs.continue_walk);
        if (bpf_map_update_elem(bpf_map__fd(skeleton->maps.walk_programs), &index, &program,
                                BPF_ANY) != 0) {
            return fail_with(errno, "chain the BPF programs");
        }
    }
    BOBBIN_CHECK(fill_free_ids(bpf_map__fd(skeleton->maps.free_executable_ids)));
    BOBBIN_CHECK(find_shown_namespace(*skeleton));
    return skeleton;
}

Result<BpfProgram> BpfProgram::load(const BpfOptions& options) {
    libbpf_set_print(log_from_libbpf);
    const TickProgram best =
        kernel_has_helper(BPF_FUNC_loop) ? TickProgram::kLoop : TickProgram::kTailCalls;
    const TickProgram preferred = options.tick_program.value_or(best);
    BOBBIN_TRY(auto skeleton, load_with(options, preferred));
    const MappingProbe probe{
        .program_fd = bpf_program__fd(skeleton->progs.find_own_mapping),
        .start_vaddr = &skeleton->bss->own_mapping_start_vaddr,
        .end_vaddr = &skeleton->bss->own_mapping_end_vaddr,
        .file_offset = &skeleton->bss->own_mapping_file_offset,
    };
    auto trusted = compare_with_proc_maps(probe, options.own_maps);
    if (trusted) {
        BpfProgram program(std::move(skeleton), preferred, "");
        BOBBIN_CHECK(program.add_targets(options.targets));
        return program;
    }
    if (!kernel_has_helper(BPF_FUNC_find_vma)) return fail(trusted.error());
    spdlog::warn("mappings are looked up by bpf_find_vma: {}", trusted.error().message());
    BOBBIN_TRY(auto without_walk, load_with(options, TickProgram::kFindVma));
    BpfProgram fallback(std::move(without_walk), TickProgram::kFindVma, trusted.error().message());
    BOBBIN_CHECK(fallback.add_targets(options.targets));
    return fallback;
}

int BpfProgram::tick_program_fd() const {
    const auto& programs = skeleton_->progs;
    switch (tick_program_) {
        case TickProgram::kLoop:
            return bpf_program__fd(programs.on_tick);
        case TickProgram::kTailCalls:
            return bpf_program__fd(programs.on_tick_tail_calls);
        case TickProgram::kFindVma:
            return bpf_program__fd(programs.on_tick_find_vma);
    }
    return -1;
}

int BpfProgram::outcome_counts_fd() const { return bpf_map__fd(skeleton_->maps.outcome_counts); }
int BpfProgram::samples_fd() const { return bpf_map__fd(skeleton_->maps.samples); }
int BpfProgram::announcements_fd() const { return bpf_map__fd(skeleton_->maps.announcements); }
int BpfProgram::unwind_buckets_fd() const { return bpf_map__fd(skeleton_->maps.unwind_buckets); }
int BpfProgram::executables_fd() const { return bpf_map__fd(skeleton_->maps.executables); }
int BpfProgram::files_fd() const { return bpf_map__fd(skeleton_->maps.files); }
int BpfProgram::special_rules_fd() const { return bpf_map__fd(skeleton_->maps.special_rules); }
int BpfProgram::macros_fd() const { return bpf_map__fd(skeleton_->maps.macros); }
int BpfProgram::free_executable_ids_fd() const {
    return bpf_map__fd(skeleton_->maps.free_executable_ids);
}
int BpfProgram::target_cgroups_fd() const { return bpf_map__fd(skeleton_->maps.target_cgroups); }
int BpfProgram::cgroup_verdicts_fd() const { return bpf_map__fd(skeleton_->maps.cgroup_verdicts); }
unsigned long long& BpfProgram::rule_generation() const { return skeleton_->bss->rule_generation; }
unsigned long long& BpfProgram::file_changes() const { return skeleton_->bss->file_changes; }

Result<> BpfProgram::attach_process_events() {
    const auto attach = [](bpf_program* program, bpf_link*& link) -> Result<> {
        link = bpf_program__attach(program);
        if (link == nullptr) return fail_with(errno, "attach {}", bpf_program__name(program));
        return {};
    };
    BOBBIN_CHECK(attach(skeleton_->progs.on_process_exec, skeleton_->links.on_process_exec));
    if (skeleton_->rodata->only_targets == 0) return {};
    BOBBIN_CHECK(attach(skeleton_->progs.on_process_fork, skeleton_->links.on_process_fork));
    BOBBIN_CHECK(attach(skeleton_->progs.on_process_exit, skeleton_->links.on_process_exit));
    return choose_running_threads();
}

Result<> BpfProgram::announce_running() {
    bpf_program* const program = skeleton_->progs.announce_mapped_file;
    if (!bpf_program__autoload(program)) return {};
    return run_iterator(program, skeleton_->links.announce_mapped_file);
}

// Processes are met in the order of their numbers, so a round mostly finds grandchildren too.
Result<> BpfProgram::choose_running_threads() {
    do {
        skeleton_->bss->adopted_count = 0;
        BOBBIN_CHECK(run_iterator(skeleton_->progs.choose_running_thread,
                                  skeleton_->links.choose_running_thread));
    } while (skeleton_->bss->adopted_count != 0);
    return {};
}

Result<std::uint32_t> BpfProgram::number_in_root_namespace(pid_t pid) {
    if (is_in_root_pid_namespace()) return static_cast<std::uint32_t>(pid);
    skeleton_->bss->wanted_pid = static_cast<__u32>(pid);
    skeleton_->bss->found_pid = 0;
    BOBBIN_CHECK(run_iterator(skeleton_->progs.choose_running_thread,
                              skeleton_->links.choose_running_thread));
    skeleton_->bss->wanted_pid = 0;
    const std::uint32_t found = skeleton_->bss->found_pid;
    if (found == 0) return fail_with(ESRCH, "find the number of {} outside of this namespace", pid);
    return found;
}

Result<> BpfProgram::add_numbers(std::span<const pid_t> ids, int set_fd) {
    for (const pid_t id : ids) {
        BOBBIN_TRY(const __u32 number, number_in_root_namespace(id));
        BOBBIN_CHECK(add_to_set(set_fd, number));
    }
    return {};
}

Result<> BpfProgram::add_targets(const Targets& targets) {
    BOBBIN_CHECK(add_numbers(targets.processes, bpf_map__fd(skeleton_->maps.target_processes)));
    BOBBIN_CHECK(add_numbers(targets.threads, bpf_map__fd(skeleton_->maps.target_threads)));
    for (const std::uint64_t id : targets.cgroup_ids) {
        BOBBIN_CHECK(add_to_set(bpf_map__fd(skeleton_->maps.target_cgroups), id));
    }
    return {};
}

std::uint64_t BpfProgram::map_bytes() const {
    std::uint64_t bytes = 0;
    bpf_map* map = nullptr;
    bpf_object__for_each_map(map, skeleton_->obj) bytes += charged_bytes(bpf_map__fd(map));
    return bytes + charged_bytes_of_buckets(unwind_buckets_fd());
}

std::vector<std::pair<std::string, std::uint32_t>> BpfProgram::verified_instructions() const {
    std::vector<std::pair<std::string, std::uint32_t>> result;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton_->obj) {
        bpf_prog_info info{};
        __u32 size = sizeof(info);
        if (!bpf_program__autoload(program)) continue;
        if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0) continue;
        if (info.verified_insns > 0)
            result.emplace_back(bpf_program__name(program), info.verified_insns);
    }
    return result;
}

}  // namespace bobbin::sampler
