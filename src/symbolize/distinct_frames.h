// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aggregate/stack_counts.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::symbolize {

// Every distinct frame of a recording once. Numbered from 0 in this order: kernel addresses, places
// in files by (executable id, file offset), places in generated code; each ascending.
class DistinctFrames {
public:
    explicit DistinctFrames(const aggregate::CountedStacks& counted);

    [[nodiscard]] std::size_t size() const { return kernel_.size() + user_.size(); }
    [[nodiscard]] std::span<const std::uint64_t> kernel_addresses() const { return kernel_; }
    // Without FRAME_BY_FRAME_POINTER: how a frame was found does not make it another place.
    [[nodiscard]] std::span<const abi::frame_word> user_frames() const { return user_; }

    // Of a frame of `counted`.
    [[nodiscard]] std::uint32_t number_of_kernel(std::uint64_t address) const;
    [[nodiscard]] std::uint32_t number_of_user(abi::frame_word frame) const;

private:
    std::vector<std::uint64_t> kernel_;
    std::vector<abi::frame_word> user_;
};

}  // namespace bobbin::symbolize
