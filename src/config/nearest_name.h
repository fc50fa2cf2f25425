// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bobbin::config {

// The known name that was probably meant: at most a third of its letters typed wrong, left out,
// added or swapped.
std::optional<std::string> nearest_name(std::span<const std::string_view> names,
                                        std::string_view typed);

}  // namespace bobbin::config
