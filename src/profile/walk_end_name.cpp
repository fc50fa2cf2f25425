// SPDX-License-Identifier: Apache-2.0
#include "profile/walk_end_name.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace bobbin::profile {
namespace {

constexpr std::array kNames = {
#define X(end, name, text) std::string_view(name),
    BOBBIN_WALK_ENDS(X)
#undef X
};

}  // namespace

std::string_view name_of(abi::walk_end end) { return kNames.at(end); }

std::optional<abi::walk_end> walk_end_named(std::string_view name) {
    const auto* const found = std::ranges::find(kNames, name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<abi::walk_end>(found - kNames.begin());
}

}  // namespace bobbin::profile
