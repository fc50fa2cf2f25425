// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sampler/targets.h"

struct bpf_map;
struct profiler_bpf;

namespace bobbin::sampler {

// How a tick repeats the step from frame to frame, by what the kernel can do.
enum class TickProgram {
    kLoop,       // bpf_loop, 5.17 on
    kTailCalls,  // before
    kFindVma,    // where the kernel's tree of mappings cannot be read: the leaf's mapping only
};
const char* name_of(TickProgram program);
std::optional<TickProgram> tick_program_named(std::string_view name);

// Rules of return addresses that a thread's last walk found (bpf/rule_memory.bpf.h).
enum class RuleMemory {
    kOn,
    kOff,
    kChecked,  // every use is compared with the tables, differences are counted; for tests
};
std::optional<RuleMemory> rule_memory_named(std::string_view name);  // on, off, check

struct BpfOptions {
    Targets targets;
    bool leave_out_kernel_frames = false;
    bool leave_out_user_frames = false;
    std::uint32_t cpu_count = 1;
    std::optional<TickProgram> tick_program;  // not the best one the kernel can run, but this one
    RuleMemory rule_memory = RuleMemory::kOn;
    std::string own_maps = "/proc/self/maps";  // what the self-test believes
};

// The loaded BPF object: programs and maps. Loading chooses the tick program, compares the walk of
// the tree of mappings with /proc/self/maps and, should one answer differ, loads again without it.
// Nothing runs before the perf events are attached. Main thread.
class BpfProgram {
public:
    static Result<BpfProgram> load(const BpfOptions& options);

    BpfProgram(BpfProgram&&) noexcept;
    BpfProgram& operator=(BpfProgram&&) noexcept;
    ~BpfProgram();

    [[nodiscard]] TickProgram tick_program() const { return tick_program_; }
    // Why the tree of mappings is not used; empty when it is.
    [[nodiscard]] const std::string& mapping_fallback_reason() const { return fallback_reason_; }

    [[nodiscard]] int tick_program_fd() const;
    [[nodiscard]] int outcome_counts_fd() const;
    [[nodiscard]] int samples_fd() const;
    [[nodiscard]] int announcements_fd() const;
    [[nodiscard]] int unwind_buckets_fd() const;
    [[nodiscard]] int executables_fd() const;
    [[nodiscard]] int files_fd() const;
    [[nodiscard]] int special_rules_fd() const;
    [[nodiscard]] int macros_fd() const;
    [[nodiscard]] int free_executable_ids_fd() const;
    [[nodiscard]] int target_cgroups_fd() const;
    [[nodiscard]] int cgroup_verdicts_fd() const;
    // How many files can be known at one time.
    [[nodiscard]] std::size_t executable_id_count() const { return executable_id_count_; }
    // The BPF object's own, mapped into this process: stays where it is for as long as that does.
    [[nodiscard]] unsigned long long& rule_generation() const;
    [[nodiscard]] unsigned long long& file_changes() const;  // bpf/identify_file.bpf.h

    // exec, fork and exit are told of from here on; the children that target processes have
    // already are targets too.
    Result<> attach_process_events();
    // Every executable mapping there is now is announced if its file is not known yet. Does nothing
    // on kernels without such iterators (before 5.12): files are then announced by the first
    // sample.
    Result<> announce_running();

    // Charged by the kernel for our maps, buckets included.
    [[nodiscard]] std::uint64_t map_bytes() const;
    // (program, instructions the verifier looked at): none on kernels before 5.16.
    [[nodiscard]] std::vector<std::pair<std::string, std::uint32_t>> verified_instructions() const;

private:
    struct SkeletonDeleter {
        void operator()(profiler_bpf* skeleton) const;
    };
    using Skeleton = std::unique_ptr<profiler_bpf, SkeletonDeleter>;

    BpfProgram(Skeleton skeleton, TickProgram tick_program, std::string fallback_reason);
    static Result<Skeleton> load_with(const BpfOptions& options, TickProgram tick_program);
    Result<> add_targets(const Targets& targets);
    Result<> add_numbers(std::span<const pid_t> ids, int set_fd);
    Result<std::uint32_t> number_in_root_namespace(pid_t pid);
    Result<> choose_running_threads();

    Skeleton skeleton_;
    TickProgram tick_program_;
    std::string fallback_reason_;
    std::size_t executable_id_count_;
};

}  // namespace bobbin::sampler
