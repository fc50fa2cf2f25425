// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace bobbin::sampler {

// Who is sampled: threads that agree with any of these. Nothing named: everybody.
struct Targets {
    std::vector<pid_t> processes;  // with the children they have and will have
    std::vector<pid_t> threads;
    std::vector<std::uint64_t> cgroup_ids;  // of version 2, with all below
    std::vector<std::string> comms;         // "name", or "na*" for all that begin so

    [[nodiscard]] bool everybody() const { return kinds() == 0; }
    [[nodiscard]] std::uint32_t kinds() const;  // enum target_kind
};

// A name, or the beginning of one, as the kernel side compares them: comm & mask == bits for each
// word. Behind the end of a comm come zeros.
struct CommPattern {
    std::array<std::uint64_t, abi::COMM_WORDS> bits{};
    std::array<std::uint64_t, abi::COMM_WORDS> mask{};
};
// A comm has 15 bytes: as the kernel does, more are cut off.
CommPattern parse_comm_pattern(std::string_view text);

}  // namespace bobbin::sampler
