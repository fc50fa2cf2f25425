// SPDX-License-Identifier: Apache-2.0
#include "cfi/sort_by_start.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

namespace bobbin::cfi {
namespace {

// Two passes for 64 MiB of text; 8,192 counters of four bytes still fit the first-level cache.
constexpr unsigned kMaxDigitBits = 13;

struct Digit {
    unsigned shift = 0;
    unsigned bits = 0;

    [[nodiscard]] std::size_t of(const StartPlace& place) const {
        return place.vaddr_from_base >> shift & ((1U << bits) - 1);
    }
};

void sort_by_digit(const std::vector<StartPlace>& from, std::vector<StartPlace>& to, Digit digit) {
    std::array<std::uint32_t, std::size_t{1} << kMaxDigitBits> next{};
    for (const StartPlace& place : from) ++next[digit.of(place)];
    std::uint32_t total = 0;
    for (std::uint32_t& count : std::span(next).first(std::size_t{1} << digit.bits)) {
        total += count;
        count = total - count;
    }
    for (const StartPlace& place : from) to[next[digit.of(place)]++] = place;
}

}  // namespace

void sort_by_start(std::vector<StartPlace>& places) {
    if (std::ranges::is_sorted(places, {}, &StartPlace::vaddr_from_base)) return;
    const std::uint32_t last =
        std::ranges::max(places, {}, &StartPlace::vaddr_from_base).vaddr_from_base;
    const auto bits = static_cast<unsigned>(std::bit_width(last));
    const unsigned passes = std::max(1U, (bits + kMaxDigitBits - 1) / kMaxDigitBits);
    const unsigned digit_bits = (bits + passes - 1) / passes;
    std::vector<StartPlace> sorted(places.size());
    for (unsigned shift = 0; shift < bits; shift += digit_bits) {
        sort_by_digit(places, sorted, {shift, digit_bits});
        places.swap(sorted);
    }
}

}  // namespace bobbin::cfi
