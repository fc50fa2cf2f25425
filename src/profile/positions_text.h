// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bobbin::profile {

// The key of the label that says which frames of a stack were found by a frame pointer, the
// innermost being 0: "2-14,16".
inline constexpr std::string_view kByFramePointerLabel = "by_frame_pointer";

// `positions` ascending.
std::string positions_text(std::span<const std::uint32_t> positions);

// Those below `count` that come before anything that is not such a text.
std::vector<std::uint32_t> read_positions(std::string_view text, std::size_t count);

}  // namespace bobbin::profile
