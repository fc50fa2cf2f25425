// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bobbin::test {

// A line of /proc/PID/maps.
struct TracedMapping {
    std::uint64_t start_vaddr = 0;
    std::uint64_t end_vaddr = 0;
    std::uint64_t file_offset = 0;
    std::string device;
    std::uint64_t inode = 0;  // 0: no file
    bool readable = false;
    bool executable = false;
    std::string path;  // or [stack], [vdso]

    [[nodiscard]] bool holds(std::uint64_t vaddr) const {
        return vaddr >= start_vaddr && vaddr < end_vaddr;
    }
    [[nodiscard]] std::pair<std::string, std::uint64_t> file() const { return {device, inode}; }
    friend bool operator==(const TracedMapping&, const TracedMapping&) = default;
};

std::vector<TracedMapping> read_mappings(pid_t pid);
// The one that holds `vaddr`; nullptr: none.
const TracedMapping* find_mapping(const std::vector<TracedMapping>& mappings, std::uint64_t vaddr);
// Field 28 of /proc/PID/stat: rsp as the kernel entered the process.
std::uint64_t read_start_stack(pid_t pid);

}  // namespace bobbin::test
