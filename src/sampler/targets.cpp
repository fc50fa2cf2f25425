// SPDX-License-Identifier: Apache-2.0
#include "sampler/targets.h"

#include <algorithm>
#include <array>
#include <bit>

namespace bobbin::sampler {

std::uint32_t Targets::kinds() const {
    std::uint32_t kinds = 0;
    if (!processes.empty()) kinds |= abi::TARGET_PROCESSES;
    if (!threads.empty()) kinds |= abi::TARGET_THREADS;
    if (!cgroup_ids.empty()) kinds |= abi::TARGET_CGROUPS;
    if (!comms.empty()) kinds |= abi::TARGET_COMMS;
    return kinds;
}

CommPattern parse_comm_pattern(std::string_view text) {
    const bool is_beginning = text.ends_with('*');
    if (is_beginning) text.remove_suffix(1);
    text = text.substr(0, abi::COMM_BYTES - 1);
    std::array<char, abi::COMM_BYTES> bits{};
    std::ranges::copy(text, bits.begin());
    std::array<char, abi::COMM_BYTES> mask{};
    std::fill_n(mask.begin(), is_beginning ? text.size() : mask.size(), '\xff');
    using Words = std::array<std::uint64_t, abi::COMM_WORDS>;
    return {.bits = std::bit_cast<Words>(bits), .mask = std::bit_cast<Words>(mask)};
}

}  // namespace bobbin::sampler
