// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "bobbin/bpf_abi.h"
#include "sampler/bounded_map.h"
#include "sampler/cgroup_labels.h"
#include "sampler/cgroup_tree.h"

namespace bobbin::sampler {

// The labels of a sample's process. Where all cgroups are of version 2, the sample's cgroup id says
// everything, and each cgroup is looked up once, be its processes gone or not. Beside a hierarchy
// of version 1, or without CAP_DAC_READ_SEARCH, /proc/PID/cgroup is read when the first sample of a
// process comes. What is kept is bounded, the oldest goes first. Any thread.
class ProcessLabelReader {
public:
    ProcessLabelReader();
    // Without a tree only processes say where they are.
    ProcessLabelReader(std::string proc, std::optional<CgroupTree> tree)
        : proc_(std::move(proc)), tree_(std::move(tree)) {}

    void notice(const abi::sample_header& sample);
    [[nodiscard]] ProcessLabels find(std::uint32_t pid, std::uint64_t process_start_boot_ns,
                                     std::uint64_t cgroup_id) const;

    // Each entry is a pointer and a key; texts are shared by the processes of a cgroup.
    static constexpr std::size_t kMaxCgroups = 16'384;
    static constexpr std::size_t kMaxProcesses = 131'072;

private:
    using Labels = std::shared_ptr<const ProcessLabels>;  // empty: could not be found out
    using ProcessKey = std::pair<std::uint32_t, std::uint64_t>;

    [[nodiscard]] Labels read_cgroup(std::uint64_t cgroup_id) const;
    [[nodiscard]] Labels read_process(std::uint32_t pid) const;
    [[nodiscard]] bool is_process_needed(const Labels& of_cgroup) const;
    Labels shared(Labels labels);

    std::string proc_;
    std::optional<CgroupTree> tree_;
    mutable std::mutex mutex_;
    BoundedMap<std::uint64_t, Labels> by_cgroup_{kMaxCgroups};
    BoundedMap<ProcessKey, Labels> by_process_{kMaxProcesses};
    BoundedMap<std::string, Labels> by_path_{kMaxCgroups};
};

}  // namespace bobbin::sampler
