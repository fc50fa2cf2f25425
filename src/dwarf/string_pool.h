// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace bobbin::dwarf {

// Each string once, by number; 0 is the empty one.
class StringPool {
public:
    StringPool() { (void)number_of(""); }

    std::uint32_t number_of(std::string_view text) {
        if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
        const auto number = static_cast<std::uint32_t>(texts_.size());
        numbers_.emplace(texts_.emplace_back(text), number);
        return number;
    }
    [[nodiscard]] const std::string& operator[](std::uint32_t number) const {
        return texts_[number];
    }
    [[nodiscard]] std::size_t size() const { return texts_.size(); }

private:
    std::deque<std::string> texts_;  // which stay where they are
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace bobbin::dwarf
