// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "symbolize/jitdump.h"
#include "symbolize/jitdump_lines.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

// The corpus's code lies at 0x1000 and, as node's, at 0x5e0000000000.
std::vector<std::uint64_t> addresses() {
    std::vector<std::uint64_t> result;
    for (std::uint64_t vaddr = 0x1000; vaddr < 0x1100; vaddr += 3) result.push_back(vaddr);
    for (std::uint64_t vaddr = 0; vaddr < 0x1000; vaddr += 31) {
        result.push_back(0x5e0000000000 + vaddr);
    }
    result.push_back(UINT64_MAX);
    return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const std::vector<std::uint64_t> asked = addresses();
    const auto lines = bobbin::symbolize::find_jitdump_lines({.entries = bytes,
                                                              .entry_count = 7,
                                                              .bias = 0,
                                                              .code_vaddr = 0x1000,
                                                              .code_size_bytes = 256},
                                                             asked);
    require(lines.size() == asked.size());
    const auto frames =
        bobbin::symbolize::read_jitdump(bobbin::symbolize::bytes_in_memory(bytes), asked);
    if (!frames) return 0;
    require(frames->size() == asked.size());
    // An answer depends on no other address that is asked for.
    const std::vector<std::uint64_t> one{asked[asked.size() / 2]};
    const auto alone =
        bobbin::symbolize::read_jitdump(bobbin::symbolize::bytes_in_memory(bytes), one);
    const auto& among_others = (*frames)[asked.size() / 2];
    require(alone && alone->size() == 1);
    require(alone->front().system_name == among_others.system_name);
    require(alone->front().file == among_others.file && alone->front().line == among_others.line);
    return 0;
}
