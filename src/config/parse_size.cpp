// SPDX-License-Identifier: Apache-2.0
#include "config/parse_size.h"

#include <charconv>
#include <limits>
#include <optional>

namespace bobbin::config {
namespace {

bool equal_without_case(char a, char b) { return (a | 0x20) == b; }

// "", "k", "KB", "KiB": the power of two it stands for.
std::optional<unsigned> shift_of(std::string_view unit) {
    constexpr std::string_view kLetters = "kmgt";  // 2^10, 2^20, 2^30, 2^40
    constexpr unsigned kShiftOfOne = 10;
    unsigned shift = 0;
    for (std::size_t i = 0; !unit.empty() && i < kLetters.size(); ++i) {
        if (!equal_without_case(unit.front(), kLetters[i])) continue;
        shift = kShiftOfOne * (static_cast<unsigned>(i) + 1);
        unit.remove_prefix(1);
        if (unit.size() == 2 && equal_without_case(unit.front(), 'i')) unit.remove_prefix(1);
        break;
    }
    const bool is_bytes = unit.empty() || (unit.size() == 1 && equal_without_case(unit[0], 'b'));
    return is_bytes ? std::optional(shift) : std::nullopt;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
    std::uint64_t number = 0;
    const char* const text_end = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), text_end, number);
    if (problem == std::errc::result_out_of_range) return fail("more than any machine has");
    if (problem != std::errc{}) return fail("a size is a whole number, like 64M, 1G or 1048576");
    const std::string_view unit(end, static_cast<std::size_t>(text_end - end));
    const auto shift = shift_of(unit);
    if (!shift) return fail("'{}' is not a unit of size; K, M, G and T are", unit);
    if (number > std::numeric_limits<std::uint64_t>::max() >> *shift) {
        return fail("more than any machine has");
    }
    return number << *shift;
}

}  // namespace bobbin::config
