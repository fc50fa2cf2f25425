// SPDX-License-Identifier: Apache-2.0
#include "profile/positions_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace bobbin::profile {
namespace {

using Positions = std::vector<std::uint32_t>;

TEST(PositionsText, JoinsNeighbours) {
    EXPECT_EQ(positions_text(Positions{}), "");
    EXPECT_EQ(positions_text(Positions{7}), "7");
    EXPECT_EQ(positions_text(Positions{0, 1, 2, 5, 8, 9}), "0-2,5,8-9");
}

TEST(ReadPositions, TakesBackWhatWasWritten) {
    for (const Positions& positions : {Positions{}, Positions{0}, Positions{1, 3, 4, 5, 11}}) {
        EXPECT_EQ(read_positions(positions_text(positions), 12), positions);
    }
}

TEST(ReadPositions, KeepsToTheStackWhateverTheTextSays) {
    EXPECT_EQ(read_positions("2-4294967295", 4), (Positions{2, 3}));
    EXPECT_EQ(read_positions("9", 4), Positions{});
    EXPECT_EQ(read_positions("1,x,2", 4), Positions{1});
    EXPECT_EQ(read_positions("2,1", 4), Positions{2});
    EXPECT_EQ(read_positions("1,1", 4), Positions{1});
    EXPECT_EQ(read_positions("1-", 4), Positions{});
    EXPECT_EQ(read_positions("-1", 4), Positions{});
    EXPECT_EQ(read_positions("99999999999", 4), Positions{});
}

}  // namespace
}  // namespace bobbin::profile
