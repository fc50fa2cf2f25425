// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bobbin::sampler {

// What a sample cannot say of its process itself.
struct ProcessLabels {
    std::string cgroup;     // path below the hierarchy's root
    std::string unit;       // nginx.service: the innermost service or scope
    std::string container;  // id, shortened to 12 digits as engines show it, or a machine's name

    friend bool operator==(const ProcessLabels&, const ProcessLabels&) = default;
};

// From a cgroup's path, "/system.slice/docker-<64 hex>.scope". Pure.
ProcessLabels describe_cgroup(std::string_view path);

// The innermost container of a path: its whole id (docker, podman, containerd, cri-o) or its name
// (systemd-nspawn, LXC). Empty: none. What engines run beside a container (conmon, the supervisor
// of nspawn, LXC's monitor) is in none.
std::string container_of(std::string_view path);

// From the text of /proc/PID/cgroup: the unified hierarchy's path or that of systemd's own,
// whichever says more; where both are the root, a controller's of version 1.
ProcessLabels parse_cgroup(std::string_view text);

}  // namespace bobbin::sampler
