// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace bobbin {

// Digits in whatever locale, and a minus where Number has a sign: no blank, no plus, no prefix.

// The number that `text` begins with, which is taken off it; what does not fit stays there.
template <class Number>
std::optional<Number> take_number(std::string_view& text, int base = 10) {
    Number number{};
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (problem != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// All of `text` as a number.
template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
    const auto number = take_number<Number>(text, base);
    return text.empty() ? number : std::nullopt;
}

// The number that a variable of the environment is set to.
template <class Number>
std::optional<Number> number_in_environment(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? std::nullopt : parse_number<Number>(text);
}

}  // namespace bobbin
