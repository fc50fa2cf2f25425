// SPDX-License-Identifier: Apache-2.0
#include "dwarf/late_strings.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace bobbin::dwarf {

void LateStrings::read() {
    std::vector<std::uint32_t> order(strings_.size() - first_unread_);
    std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(first_unread_));
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
        const String& left = strings_[a];
        const String& right = strings_[b];
        if (left.section != right.section) return std::less<>()(left.section, right.section);
        return left.offset < right.offset;
    });
    const String* last = nullptr;
    for (const std::uint32_t number : order) {
        String& string = strings_[number];
        if (string.section == nullptr) continue;
        const bool is_same =
            last != nullptr && last->section == string.section && last->offset == string.offset;
        string.text = is_same ? last->text : std::string(string.section->c_string(string.offset));
        last = &string;
    }
    first_unread_ = strings_.size();
}

}  // namespace bobbin::dwarf
