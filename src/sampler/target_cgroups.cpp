// SPDX-License-Identifier: Apache-2.0
#include "sampler/target_cgroups.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace bobbin::sampler {
namespace {

std::vector<std::uint64_t> keys_of(int map_fd) {
    std::vector<std::uint64_t> keys;
    std::uint64_t key = 0;
    const std::uint64_t* before = nullptr;
    while (keys.size() < abi::MAX_TARGET_CGROUPS * 16 &&
           bpf_map_get_next_key(map_fd, before, &key) == 0) {
        keys.push_back(key);
        before = &keys.back();
    }
    return keys;
}

}  // namespace

Result<> replace_target_cgroups(const BpfProgram& program, std::span<const std::uint64_t> ids) {
    const int targets_fd = program.target_cgroups_fd();
    const __u8 present = 1;
    for (const std::uint64_t id : ids) {
        if (bpf_map_update_elem(targets_fd, &id, &present, BPF_ANY) != 0) {
            return fail_with(errno, "choose cgroup {}", id);
        }
    }
    for (const std::uint64_t id : keys_of(targets_fd)) {
        if (std::ranges::find(ids, id) == ids.end()) bpf_map_delete_elem(targets_fd, &id);
    }
    // What was said of cgroups below the new ones was said without them.
    for (const std::uint64_t id : keys_of(program.cgroup_verdicts_fd())) {
        bpf_map_delete_elem(program.cgroup_verdicts_fd(), &id);
    }
    return {};
}

}  // namespace bobbin::sampler
