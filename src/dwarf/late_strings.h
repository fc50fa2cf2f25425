// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf/section.h"

namespace bobbin::dwarf {

// Strings by the places where they lie, read later and all together in the order of their sections:
// asked for one by one, each is a read of its own, and a compressed section has to be whole.
class LateStrings {
public:
    // The number of a string; 0 is the empty one. The section must be there until read().
    std::uint32_t number_of(Section& section, std::uint64_t offset) {
        strings_.push_back({&section, offset, {}});
        return static_cast<std::uint32_t>(strings_.size() - 1);
    }
    std::uint32_t number_of(std::string_view text) {
        if (text.empty()) return 0;
        strings_.push_back({nullptr, 0, std::string(text)});
        return static_cast<std::uint32_t>(strings_.size() - 1);
    }

    // Reads what was asked for since the last time.
    void read();

    // Empty before it was read.
    [[nodiscard]] const std::string& operator[](std::uint32_t number) const {
        return strings_[number].text;
    }

private:
    struct String {
        Section* section = nullptr;
        std::uint64_t offset = 0;
        std::string text;
    };

    std::vector<String> strings_ = {String()};
    std::size_t first_unread_ = 1;
};

}  // namespace bobbin::dwarf
