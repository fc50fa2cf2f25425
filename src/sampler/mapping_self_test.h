// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bobbin::sampler {

// The BPF program that finds a mapping of the calling process, and where it leaves its answer.
struct MappingProbe {
    int program_fd = -1;
    const __u64* start_vaddr = nullptr;
    const __u64* end_vaddr = nullptr;  // 0: nothing found
    const __u64* file_offset = nullptr;
};

struct ProcMapping {
    std::uint64_t start_vaddr = 0;
    std::uint64_t end_vaddr = 0;
    std::uint64_t file_offset = 0;
    bool has_file = false;
};

// The lines of a /proc/PID/maps. Lines that are not of that form are left out.
std::vector<ProcMapping> parse_proc_maps(std::string_view text);

// Compares the BPF walk of the kernel's tree of mappings with /proc/self/maps, for the first and
// the last address of each mapping of this process and for an address in no mapping. The walk reads
// the tree without a lock and by BTF's word for its layout, so it is trusted only after this.
// Error: the first answer that differs. `maps` is /proc/self/maps but in tests.
Result<> compare_with_proc_maps(const MappingProbe& probe,
                                const std::string& maps = "/proc/self/maps");

}  // namespace bobbin::sampler
