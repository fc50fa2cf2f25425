// SPDX-License-Identifier: Apache-2.0
// Code without unwind information: rbp is followed where it can be a frame pointer, and what it
// leads to is believed only if it is code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host_process.h"

namespace bobbin {
namespace {

using testing::ElementsAre;

class FramePointer : public HostProcess {
protected:
    static constexpr std::uint64_t kSaved = kProgramStart + 0x110;

    void SetUp() override {
        HostProcess::SetUp();
        publish(kProgramInode, {{0x100, bottom()}});
    }
    static host_registers in_generated_code(std::uint64_t rsp, std::uint64_t rbp) {
        return {kGeneratedCode + 8, rsp, rbp, 0};
    }
    void expect_nothing_followed(std::uint64_t rsp, std::uint64_t rbp, const char* what) {
        const auto sample = tick(in_generated_code(rsp, rbp));
        EXPECT_THAT(frames(sample.parsed.user_frames),
                    ElementsAre(FRAME_IS_ANONYMOUS | (kGeneratedCode + 8)))
            << what;
        EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_ANONYMOUS) << what;
    }
};

TEST_F(FramePointer, IsFollowedUpToTheLastTwoWordsOfTheStack) {
    const std::uint64_t last = kStackMappingEnd - 16;
    put_stack(kStackMappingEnd - 4096, [] {
        std::vector<std::uint64_t> words(512);
        words[511] = kSaved;
        return words;
    }());
    const auto sample = tick(in_generated_code(kStack, last));
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(FRAME_IS_ANONYMOUS | (kGeneratedCode + 8),
                            FRAME_BY_FRAME_POINTER | in_program(0x10f)));
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
}

// Where rbp is not a frame pointer but a number or an address of something else, the words it
// points to may even look like a frame.
TEST_F(FramePointer, IsNotFollowedWhereItCannotBeOne) {
    const std::vector<std::uint64_t> like_a_frame(1024, kSaved);
    put_stack(kStack - 4096, like_a_frame);
    put_stack(kData, like_a_frame);
    put_stack(kStackMappingEnd - 4096, std::vector<std::uint64_t>(1024, kSaved));
    expect_nothing_followed(kStack, kStack + 4, "askew");
    expect_nothing_followed(kStack, kStack - 8, "below rsp");
    expect_nothing_followed(kData - 4096, kData, "rsp on no mapping");
    expect_nothing_followed(kData, kStack, "on another mapping, too far up");
    expect_nothing_followed(kStackMappingEnd - 4096, kStackMappingEnd - 8,
                            "the return address behind the stack's end");
    expect_nothing_followed(kStackMappingEnd - 4096, kStackMappingEnd, "behind the stack's end");
}

TEST_F(FramePointer, IsNotFollowedIntoTheMappingNextToTheStack) {
    const host_mapping mappings[] = {
        {kProgramStart, kProgramStart + kTextBytes, kTextFileOffset, kProgramInode, 1},
        {kGeneratedCode, kGeneratedCode + kTextBytes, 0, 0, 1},
        {kStack, kStack + 0x1000, 0, 0, 0},
        {kStack + 0x1000, kStack + 0x2000, 0, 0, 0},
    };
    host_set_process(mappings, std::size(mappings), kVdso);
    put_stack(kStack, std::vector<std::uint64_t>(1024, kSaved));
    expect_nothing_followed(kStack, kStack + 0x1010, "the next mapping");
    EXPECT_EQ(tick(in_generated_code(kStack, kStack + 0x100)).parsed.user_frames.size(), 2U);
}

// The words at a stray rbp lead anywhere: then there was no frame pointer, and no frame.
TEST_F(FramePointer, InventsNoFrameWhereItLeadsToNoCode) {
    for (const std::uint64_t no_code : {kData + 8, std::uint64_t{0x1000}, ~std::uint64_t{0}}) {
        put_stack(kStack, {0, 0, 0, no_code});
        expect_nothing_followed(kStack, kStack + 16, "to no code");
    }
}

TEST_F(FramePointer, EndsTheWalkAtAZeroReturnAddress) {
    put_stack(kStack, {0, 0, 0, 0});
    EXPECT_EQ(tick(in_generated_code(kStack, kStack + 16)).parsed.header->walk_end,
              abi::WALK_END_BOTTOM);
}

TEST_F(FramePointer, IsMeasuredAgainstTheStackThatRspIsOnNow) {
    const cfi::UnwindRule signal_frame{.cfa = cfi::CfaKind::kRegisterOffset,
                                       .cfa_register = cfi::kRsp,
                                       .signal_frame = true,
                                       .ra_offset = -8};
    publish(kLibraryInode, {{0x200, signal_frame}});
    // A handler in generated code on a stack of its own, in the data; it interrupted generated
    // code.
    std::vector<std::uint64_t> alternate(60);
    alternate[2] = 0;
    alternate[3] = kLibraryStart + 0x201;
    std::uint64_t* const sigcontext = &alternate[4 + 40 / 8];
    sigcontext[10] = kStack + 32;  // rbp
    sigcontext[15] = kStack;       // rsp
    sigcontext[16] = kGeneratedCode + 0x40;
    put_stack(kData, alternate);
    put_stack(kStack, {0, 0, 0, 0, 0, kSaved});
    const auto sample = tick(in_generated_code(kData, kData + 16));
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(FRAME_IS_ANONYMOUS | (kGeneratedCode + 8),
                            FRAME_BY_FRAME_POINTER | in_library(0x201),
                            FRAME_IS_ANONYMOUS | (kGeneratedCode + 0x40),
                            FRAME_BY_FRAME_POINTER | in_program(0x10f)));
}

}  // namespace
}  // namespace bobbin
