// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/last_sampled.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace bobbin::unwind_feed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

abi::frame_word frame(std::uint64_t executable_id, std::uint64_t file_offset) {
    return executable_id << FRAME_EXECUTABLE_SHIFT | file_offset;
}

TEST(LastSampled, KnowsNothingOfWhatWasNeverMet) {
    const LastSampled sampled;
    EXPECT_EQ(sampled.of(7, seconds{100}).last, seconds{0});
    EXPECT_EQ(sampled.of(7, seconds{100}).heat, 0U);
}

TEST(LastSampled, CountsASampleOnceForEachExecutableInIt) {
    LastSampled sampled;
    // program, library, program: as a callback has it.
    sampled.note(std::vector{frame(5, 0x10), frame(5, 0x20), frame(9, 0x10),
                             frame(5, 0x30) | FRAME_BY_FRAME_POINTER},
                 milliseconds{100'250});
    EXPECT_EQ(sampled.of(5, seconds{101}).heat, 16U);
    EXPECT_EQ(sampled.of(9, seconds{101}).heat, 16U);
    EXPECT_EQ(sampled.of(5, seconds{101}).last, milliseconds{100'250}) << "a quarter, exactly";
}

TEST(LastSampled, PassesOverFramesWithoutAFile) {
    LastSampled sampled;
    sampled.note(std::vector{FRAME_IS_ANONYMOUS | frame(5, 0)}, seconds{100});
    EXPECT_EQ(sampled.of(5, seconds{100}).last, seconds{0});
}

TEST(LastSampled, HalvesWhatIsEightSecondsOld) {
    LastSampled sampled;
    for (int i = 0; i < 10; ++i) sampled.note(std::vector{frame(5, 0)}, seconds{160});
    EXPECT_EQ(sampled.of(5, seconds{160}).heat, 160U);
    EXPECT_EQ(sampled.of(5, seconds{168}).heat, 80U);
    EXPECT_EQ(sampled.of(5, seconds{176}).heat, 40U);
    EXPECT_EQ(sampled.of(5, seconds{160 + 8 * 40}).heat, 0U);
    sampled.note(std::vector{frame(5, 0)}, seconds{168});
    EXPECT_EQ(sampled.of(5, seconds{168}).heat, 96U);
}

TEST(LastSampled, IsNotConfusedByASampleThatComesLate) {
    LastSampled sampled;
    sampled.note(std::vector{frame(5, 0)}, seconds{200});
    sampled.note(std::vector{frame(5, 0)}, seconds{150});
    EXPECT_EQ(sampled.of(5, seconds{200}).last, seconds{200});
    EXPECT_EQ(sampled.of(5, seconds{200}).heat, 32U);
}

}  // namespace
}  // namespace bobbin::unwind_feed
