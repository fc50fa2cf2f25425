// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bobbin::sampler {

struct Cgroup {
    std::uint64_t id = 0;  // as bpf_get_current_cgroup_id() gives it
    std::string path;      // below the hierarchy's root: "/system.slice/nginx.service"
};

// The hierarchy of version 2 as it is mounted here, looked up when asked; nothing is kept.
class CgroupTree {
public:
    // From the lines of /proc/self/mountinfo. Error: no hierarchy of version 2 is mounted.
    static Result<CgroupTree> from_mounts(std::string_view mountinfo);
    static Result<CgroupTree> open();

    [[nodiscard]] const std::string& mount_point() const { return mount_point_; }
    // Hierarchies of version 1 are mounted too: then processes may lie in the root of this one.
    [[nodiscard]] bool has_version_1_beside() const { return version_1_; }

    // A path below the hierarchy's root or in the file system. An error without a code says that
    // it is no cgroup of this hierarchy.
    [[nodiscard]] Result<Cgroup> at(const std::string& path) const;
    // The cgroups whose last component or whole path `accepts`, outermost only: what lies below
    // one is not looked into. The search is bounded; hostile trees cost it completeness only.
    using Accepts = std::function<bool(std::string_view name, std::string_view path)>;
    [[nodiscard]] std::vector<Cgroup> find(const Accepts& accepts) const;
    // nullopt: removed, or this process may not open files by handle (CAP_DAC_READ_SEARCH).
    [[nodiscard]] std::optional<std::string> path_of(std::uint64_t id) const;

private:
    [[nodiscard]] std::string below(const std::string& place) const;

    std::string mount_point_;
    bool version_1_ = false;
};

}  // namespace bobbin::sampler
