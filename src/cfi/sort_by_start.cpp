// SPDX-License-Identifier: Apache-2.0
#include "cfi/sort_by_start.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace bobbin::cfi {
namespace {

// Three passes over the 32 bits; 2,048 counters of four bytes stay in the first-level cache.
constexpr unsigned kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

std::size_t digit_of(const StartPlace& place, unsigned shift) {
    return place.vaddr_from_base >> shift & (kDigits - 1);
}

void sort_by_digit(const std::vector<StartPlace>& from, std::vector<StartPlace>& to,
                   unsigned shift) {
    std::array<std::uint32_t, kDigits> next{};
    for (const StartPlace& place : from) ++next[digit_of(place, shift)];
    std::uint32_t total = 0;
    for (std::uint32_t& count : next) {
        total += count;
        count = total - count;
    }
    for (const StartPlace& place : from) to[next[digit_of(place, shift)]++] = place;
}

}  // namespace

void sort_by_start(std::vector<StartPlace>& places) {
    if (std::ranges::is_sorted(places, {}, &StartPlace::vaddr_from_base)) return;
    std::vector<StartPlace> sorted(places.size());
    for (unsigned shift = 0; shift < 32; shift += kDigitBits) {
        sort_by_digit(places, sorted, shift);
        places.swap(sorted);
    }
}

}  // namespace bobbin::cfi
