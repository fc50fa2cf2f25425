// SPDX-License-Identifier: Apache-2.0
#include "profile/positions_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace bobbin::profile {
namespace {

std::optional<std::uint32_t> take_number(std::string_view& text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take(std::string_view& text, char sign) {
    if (!text.starts_with(sign)) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::string positions_text(std::span<const std::uint32_t> positions) {
    std::string text;
    for (std::size_t i = 0; i < positions.size();) {
        const std::size_t first = i++;
        while (i < positions.size() && positions[i] == positions[i - 1] + 1) ++i;
        if (first != 0) text += ',';
        text += fmt::format("{}", positions[first]);
        if (i - first > 1) text += fmt::format("-{}", positions[i - 1]);
    }
    return text;
}

std::vector<std::uint32_t> read_positions(std::string_view text, std::size_t count) {
    std::vector<std::uint32_t> positions;
    do {
        const auto first = take_number(text);
        const auto last = take(text, '-') ? take_number(text) : first;
        if (!first || !last) break;
        const bool is_ascending = positions.empty() || *first > positions.back();
        if (!is_ascending) break;
        for (std::uint64_t i = *first; i <= *last && i < count; ++i) {
            positions.push_back(static_cast<std::uint32_t>(i));
        }
    } while (take(text, ','));
    return positions;
}

}  // namespace bobbin::profile
