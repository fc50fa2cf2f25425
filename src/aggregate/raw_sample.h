// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "bobbin/bpf_abi.h"

namespace bobbin::aggregate {

// One record of the ring buffer, borrowed: valid only while the reader's callback runs.
struct RawSample {
    const abi::sample_header* header = nullptr;
    std::span<const abi::frame_word> kernel_frames;  // leaf first
    std::span<const abi::frame_word> user_frames;    // leaf first
    std::span<const std::byte> paused_walk;          // empty without SAMPLE_HAS_PAUSED_WALK; struct
                                             // paused_walk and what follows it, not looked into
};

// nullopt: shorter than its header says, or of an unknown kind, which only a mismatched BPF object
// could send.
std::optional<RawSample> parse_sample(std::span<const std::byte> record);

}  // namespace bobbin::aggregate
