// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>

#include "aggregate/stack_counts.h"
#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::symbolize {

inline bool is_generated(abi::frame_word frame) { return (frame & FRAME_IS_ANONYMOUS) != 0; }

// A process, also when its number was used again. Without a pid: none.
struct ProcessId {
    std::uint32_t pid = 0;
    std::uint64_t start_boot_ns = 0;

    friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

inline ProcessId process_of(const aggregate::SampleOwner& owner) {
    return {.pid = owner.pid, .start_boot_ns = owner.process_start_boot_ns};
}

// The files in which a process says what its generated code is. Open, so that they can be read when
// it is gone; whoever opened them has seen that they are regular and belong to it.
struct CodeMaps {
    std::shared_ptr<const UniqueFd> jitdump;
    std::shared_ptr<const UniqueFd> perf_map;

    [[nodiscard]] bool has_any() const { return jitdump || perf_map; }
};

// Of any process that was sampled; without files where it has none.
using CodeMapsOf = std::function<CodeMaps(const ProcessId&)>;

}  // namespace bobbin::symbolize
