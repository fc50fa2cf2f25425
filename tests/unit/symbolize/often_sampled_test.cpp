// SPDX-License-Identifier: Apache-2.0
#include "symbolize/often_sampled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;

abi::frame_word place(std::uint32_t executable_id, std::uint64_t file_offset) {
    return (std::uint64_t{executable_id} << FRAME_EXECUTABLE_SHIFT) | file_offset;
}

aggregate::CountedStack stack_of(std::vector<abi::frame_word> user_frames, std::uint64_t count) {
    aggregate::CountedStack stack;
    stack.user_frames = std::move(user_frames);
    stack.count = count;
    return stack;
}

// 300 samples: 3 are 1 %. A stack counts once for a file, however many frames it has there.
TEST(FindOftenSampled, CountsSamplesNotFrames) {
    aggregate::CountedStacks counted;
    counted.stacks = {
        stack_of({place(9, 1), place(9, 2), place(5, 1)}, 2),
        stack_of({place(5, 3), FRAME_IS_ANONYMOUS | 0x7f0000000000}, 1),
        stack_of({place(2, 1), FRAME_BY_FRAME_POINTER | place(2, 2)}, 297),
    };
    counted.sample_count = 300;
    EXPECT_THAT(find_often_sampled(counted, 100), ElementsAre(2, 5));
    EXPECT_THAT(find_often_sampled(counted, 150), ElementsAre(2, 5, 9));
    EXPECT_THAT(find_often_sampled(counted, 2), ElementsAre(2));
}

}  // namespace
}  // namespace bobbin::symbolize
