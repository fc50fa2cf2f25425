// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace bobbin::profile {

inline constexpr std::size_t kMaxQuoted = 60;  // of a line that is not understood
inline constexpr std::string_view kBlanks = " \t\r";

inline std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// The lines of a text, counted from 1.
class TextLines {
public:
    explicit TextLines(std::string_view text) : rest_(text) {}

    // The next line without its end; nullopt: there is none.
    std::optional<std::string_view> next() {
        if (rest_.empty()) return std::nullopt;
        const std::size_t end = rest_.find('\n');
        const std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        ++number_;
        return line;
    }
    [[nodiscard]] std::size_t number() const { return number_; }  // of the line that next() gave

private:
    std::string_view rest_;
    std::size_t number_ = 0;
};

}  // namespace bobbin::profile
