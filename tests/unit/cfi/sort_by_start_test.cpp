// SPDX-License-Identifier: Apache-2.0
#include "cfi/sort_by_start.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace bobbin::cfi {
namespace {

std::vector<std::uint32_t> indices_of(const std::vector<StartPlace>& places) {
    std::vector<std::uint32_t> indices;
    for (const StartPlace& place : places) indices.push_back(place.index);
    return indices;
}

TEST(SortByStart, OrdersAllThirtyTwoBits) {
    std::vector<StartPlace> places = {{0xffffffff, 0}, {0x400000, 1}, {0x800, 2},     {0, 3},
                                      {0x7ff, 4},      {0x3fffff, 5}, {0x80000000, 6}};
    sort_by_start(places);
    EXPECT_EQ(indices_of(places), (std::vector<std::uint32_t>{3, 4, 2, 5, 1, 6, 0}));
}

TEST(SortByStart, KeepsTheOrderOfEqualStarts) {
    std::vector<StartPlace> places = {{7, 0}, {5, 1}, {7, 2}, {5, 3}, {7, 4}};
    sort_by_start(places);
    EXPECT_EQ(indices_of(places), (std::vector<std::uint32_t>{1, 3, 0, 2, 4}));
}

TEST(SortByStart, AgreesWithATreeOnRandomNumbers) {
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same numbers every time
    std::vector<StartPlace> places;
    std::multimap<std::uint32_t, std::uint32_t> tree;
    for (std::uint32_t i = 0; i < 20000; ++i) {
        // Narrow and wide values, so that some starts are equal.
        const auto start = static_cast<std::uint32_t>(random()) >> (random() % 32);
        places.push_back({start, i});
        tree.emplace(start, i);
    }
    sort_by_start(places);
    std::vector<std::uint32_t> expected;
    for (const auto& [start, index] : tree) expected.push_back(index);
    EXPECT_EQ(indices_of(places), expected);
}

TEST(SortByStart, TakesNothingAndOne) {
    std::vector<StartPlace> places;
    sort_by_start(places);
    EXPECT_TRUE(places.empty());
    places = {{9, 0}};
    sort_by_start(places);
    EXPECT_EQ(places.size(), 1U);
}

}  // namespace
}  // namespace bobbin::cfi
