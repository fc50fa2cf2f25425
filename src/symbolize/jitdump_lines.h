// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bobbin::symbolize {

struct JitdumpLine {
    std::string_view file;   // of the entries' bytes
    std::uint32_t line = 0;  // 0: not known
};

// One JIT_CODE_DEBUG_INFO record, and the code that it is about.
struct JitdumpLineTable {
    std::span<const std::byte> entries;
    std::uint64_t entry_count = 0;
    std::uint64_t bias = 0;  // to be taken from the entries' addresses
    std::uint64_t code_vaddr = 0;
    std::uint64_t code_size_bytes = 0;
};

// The entry with the greatest address at or below an address says its line; of several, the last.
// One answer for each of `addresses`, which ascend. All are unknown if an entry cannot be one: node
// 20 writes names of files from memory that it has freed, and with their lengths the entries are
// lost.
std::vector<JitdumpLine> find_jitdump_lines(const JitdumpLineTable& table,
                                            std::span<const std::uint64_t> addresses);

}  // namespace bobbin::symbolize
