// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bobbin::profile {

// Every text of a profile once, in order of first use, as UTF-8. Index 0 is the empty text.
class StringTable {
public:
    StringTable() { index_of(""); }

    std::int64_t index_of(std::string_view text);
    [[nodiscard]] std::vector<std::string> take() { return std::move(strings_); }

private:
    // Lets a lookup by string_view do without a copy.
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> index_by_text_;
    std::vector<std::string> strings_;
};

}  // namespace bobbin::profile
