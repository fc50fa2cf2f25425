// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "paused_sample.h"

namespace bobbin {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr std::uint64_t kAllBlocks = ~std::uint64_t{0};

class PauseWalk : public PausedProcess {};

TEST_F(PauseWalk, CarriesTheStackUpToTheArgumentsOfTheProgram) {
    const auto sample = tick_in_library();
    EXPECT_EQ(sample.header.walk_end, abi::WALK_END_FILE_NOT_READY);
    EXPECT_EQ(sample.walk.stack_vaddr, kStack);
    EXPECT_EQ(sample.walk.stack_span_bytes, 0x300U + 256);
    EXPECT_EQ(sample.stack, addresses(kStack, kEntryRsp + 256));
    EXPECT_THAT(sample.walk.present, ElementsAre(1, 0, 0, 0));
    EXPECT_EQ(counters().stack_copies, 1U);
    EXPECT_EQ(sample.record_bytes, 80U + 8 + 272 + 4 * 32 + 0x400);
}

TEST_F(PauseWalk, IsNotMadeWhenEveryTableIsThere) {
    publish(kLibraryInode, {{0x20, bottom()}});
    const auto sample = tick_in_library();
    EXPECT_EQ(sample.header.walk_end, abi::WALK_END_BOTTOM);
    EXPECT_EQ(sample.header.flags, 0);
    EXPECT_EQ(sample.record_bytes, 80U + 8);
    EXPECT_EQ(counters().stack_copies, 0U);
}

TEST_F(PauseWalk, CarriesAllRegistersOfTheLeaf) {
    __u64 by_dwarf_number[16] = {};
    for (std::uint64_t i = 0; i < 16; ++i) by_dwarf_number[i] = 100 + i;
    host_set_other_registers(by_dwarf_number);
    const auto sample = tick_in_library();
    EXPECT_EQ(sample.walk.rip, kLibraryStart + 0x20);
    EXPECT_EQ(sample.walk.rsp, kStack);
    EXPECT_EQ(sample.walk.rbp, 0x77U);
    EXPECT_EQ(sample.walk.vdso_vaddr, kVdso);
    EXPECT_EQ(sample.walk.start_stack_vaddr, kEntryRsp);
    EXPECT_EQ(sample.walk.flags, unsigned{abi::PAUSED_RBX_KNOWN});
    EXPECT_EQ(sample.walk.by_frame_pointer, 0U);
    // struct pt_regs of <asm/ptrace.h>: r15, ..., rbx is word 5, rax 10, rip 16, rsp 19.
    EXPECT_EQ(sample.walk.registers[0], 115U);
    EXPECT_EQ(sample.walk.registers[5], 103U);
    EXPECT_EQ(sample.walk.registers[10], 100U);
    EXPECT_EQ(sample.walk.registers[16], kLibraryStart + 0x20);
    EXPECT_EQ(sample.walk.registers[19], kStack);
}

TEST_F(PauseWalk, StandsAtTheFrameWhoseTableIsMissing) {
    put_stack(kStack, {0, kLibraryStart + 0x31, 0x1111});
    tick({kProgramStart + 0x104, kStack, 0x55, 0});
    const auto sample = take_apart(fake_ring_records(host_map_samples()).back());
    ASSERT_EQ(sample.frames.size(), 2U);
    EXPECT_EQ(sample.frames[0], in_program(0x104));
    EXPECT_EQ(sample.frames[1] & FRAME_FILE_OFFSET_MASK, kTextFileOffset + 0x30);
    EXPECT_EQ(sample.walk.rip, kLibraryStart + 0x31) << "as the stack has it";
    EXPECT_EQ(sample.walk.rsp, kStack + 16);
    EXPECT_EQ(sample.walk.rbp, 0x55U);
    EXPECT_EQ(sample.walk.flags, unsigned{abi::PAUSED_AT_RETURN_ADDRESS});
    EXPECT_EQ(sample.walk.registers[16], kProgramStart + 0x104) << "the leaf's";
    EXPECT_EQ(sample.walk.stack_vaddr, kStack) << "the red zone that is in rsp's page";
    EXPECT_EQ(sample.stack.at(2), 0x1111U);
    EXPECT_EQ(sample.walk.awaited_executable_id,
              sample.frames[1] >> FRAME_EXECUTABLE_SHIFT & FRAME_EXECUTABLE_MASK);
}

TEST_F(PauseWalk, CarriesTheStackOfAThreadUpToTheEndOfItsMapping) {
    const std::uint64_t end = kData + kTextBytes;
    numbered_stack(end - 0x900, end);
    const auto sample = tick_in_library(end - 0x880);
    EXPECT_EQ(sample.walk.stack_span_bytes, 0x900U);
    EXPECT_EQ(sample.stack, addresses(end - 0x900, end));
    EXPECT_THAT(sample.walk.present, ElementsAre(0b111, 0, 0, 0)) << "the third block is short";
}

// psABI figure 3.3: 128 bytes below rsp.
TEST_F(PauseWalk, BeginsBelowRspAtAWord) {
    const auto sample = tick_in_library(kStack + 0xa5);
    EXPECT_EQ(sample.walk.rsp, kStack + 0xa5);
    EXPECT_EQ(sample.walk.stack_vaddr, kStack + 0x20);
    EXPECT_EQ(sample.stack.front(), kStack + 0x20);
}

// 2 pages that nobody has touched; rsp is 0x778 bytes below them.

TEST_F(PauseWalk, LeavesOutPagesThatCannotBeRead) {
    const std::uint64_t rsp = kStack + 0x5888;
    const std::uint64_t entry = kStack + 0x9000;
    fake_user_memory_forget();
    numbered_stack(kStack + 0x5000, kStack + 0x6000);
    numbered_stack(kStack + 0x8000, kStack + 0x9000);
    numbered_stack(kStack + 0x9000, kStack + 0xa000);
    host_set_start_stack(entry);
    const auto sample = tick_in_library(rsp);
    EXPECT_EQ(sample.walk.stack_vaddr, kStack + 0x5800) << "so that no block crosses a page";
    EXPECT_EQ(sample.walk.stack_span_bytes, 0x3800U + 256);
    // Blocks of the first page's rest, 8 of the hole, 4 of the next page, 1 that is short.
    EXPECT_THAT(sample.walk.present, ElementsAre(0b1'1111'0000'0000'11, 0, 0, 0));
    auto expected = addresses(kStack + 0x5800, kStack + 0x6000);
    std::ranges::copy(addresses(kStack + 0x8000, entry + 256), std::back_inserter(expected));
    EXPECT_EQ(sample.stack, expected);
}

TEST_F(PauseWalk, CopiesTheLowest64KiBOfALongerStack) {
    host_set_start_stack(kStack + 0x18000);
    const auto sample = tick_in_library();
    EXPECT_EQ(sample.walk.stack_span_bytes, 0x18000U + 256);
    EXPECT_EQ(sample.walk.stack_bytes, unsigned{abi::MAX_STACK_COPY_BYTES});
    EXPECT_THAT(sample.walk.present, ElementsAre(kAllBlocks, 0, 0, 0));
    EXPECT_EQ(sample.stack, addresses(kStack, kStack + 0x10000));
}

TEST_F(PauseWalk, SpansNoMoreThan256KiB) {
    const host_mapping mappings[] = {
        {kLibraryStart, kLibraryStart + kTextBytes, kTextFileOffset, kLibraryInode, 1},
        {kStackMappingStart, kStack + 0x100000, 0, 0, 0},
    };
    host_set_process(mappings, std::size(mappings), 0);
    host_set_start_stack(kStack + 0xf0000);
    fake_user_memory_forget();
    numbered_stack(kStack, kStack + kPage);
    numbered_stack(kStack + 0x3f000, kStack + 0x40000);
    numbered_stack(kStack + 0x40000, kStack + 0x41000);
    const auto sample = tick_in_library();
    EXPECT_EQ(sample.walk.stack_span_bytes, 256U << 10);
    EXPECT_THAT(sample.walk.present, ElementsAre(0xf, 0, 0, std::uint64_t{0xf} << 60));
    EXPECT_EQ(sample.walk.stack_bytes, 2 * kPage);
}

// 65 pages: the last of 256 KiB that begin in a page's middle.

TEST_F(PauseWalk, ReadsTheLastPageOfASpanThatBeginsInAPagesMiddle) {
    const host_mapping mappings[] = {
        {kLibraryStart, kLibraryStart + kTextBytes, kTextFileOffset, kLibraryInode, 1},
        {kStackMappingStart, kStack + 0x100000, 0, 0, 0},
    };
    host_set_process(mappings, std::size(mappings), 0);
    host_set_start_stack(kStack + 0xf0000);
    fake_user_memory_forget();
    numbered_stack(kStack + 0x40000, kStack + 0x41000);
    const auto sample = tick_in_library(kStack + 0xc80);
    EXPECT_EQ(sample.walk.stack_vaddr, kStack + 0xc00);
    EXPECT_EQ(sample.stack, addresses(kStack + 0x40000, kStack + 0x40c00));
    EXPECT_THAT(sample.walk.present, ElementsAre(0, 0, 0, std::uint64_t{0b111} << 61));
}

// `sub rsp, 0x4000` was run, and nothing was written yet: the kernel lets the mapping grow on

// touch.

TEST_F(PauseWalk, FindsTheStackAboveAnRspThatItHasNotGrownToYet) {
    const std::uint64_t rsp = kStackMappingStart - 0x4000;
    numbered_stack(kStackMappingStart, kStackMappingStart + kPage);
    host_set_start_stack(kStackMappingStart + 0x800);
    const auto sample = tick_in_library(rsp);
    EXPECT_EQ(sample.walk.stack_vaddr, rsp);
    EXPECT_EQ(sample.walk.stack_span_bytes, 0x4000U + 0x800 + 256);
    EXPECT_EQ(sample.stack, addresses(kStackMappingStart, kStackMappingStart + 0x900));
    EXPECT_THAT(sample.walk.present, ElementsAre(0b111 << 16, 0, 0, 0));
}

TEST_F(PauseWalk, IsNotMadeOfAStackWithoutAReadableByte) {
    fake_user_memory_forget();
    const auto sample = tick_in_library();
    EXPECT_EQ(sample.header.flags, 0);
    EXPECT_EQ(sample.header.walk_end, abi::WALK_END_FILE_NOT_READY);
    EXPECT_EQ(counters().stack_copies_unreadable, 1U);
    EXPECT_EQ(counters().stack_copies, 0U);
}

TEST_F(PauseWalk, LeavesTheLastQuarterOfTheRingToSamples) {
    const std::uint64_t three_quarters = fake_ring_bytes(host_map_samples()) / 4 * 3;
    ASSERT_GT(three_quarters, 0U);
    fake_ring_waiting(host_map_samples(), three_quarters);
    EXPECT_EQ(tick_in_library().header.flags, abi::SAMPLE_HAS_PAUSED_WALK);
    fake_ring_waiting(host_map_samples(), three_quarters + 8);
    const auto sample = tick_in_library();
    EXPECT_EQ(sample.header.flags, 0);
    EXPECT_EQ(sample.header.user_frame_count, 1);
    EXPECT_EQ(counters().stack_copies, 1U);
    EXPECT_EQ(counters().stack_copies_left_out, 1U);
}

TEST_F(PauseWalk, IsLeftOutOfASampleThatFindsRoomOnlyWithoutIt) {
    fake_ring_refuses_above(host_map_samples(), 1000);
    const auto sample = tick_in_library();
    EXPECT_EQ(sample.header.flags, 0);
    EXPECT_EQ(sample.header.user_frame_count, 1);
    EXPECT_EQ(counters().stack_copies_left_out, 1U);
    EXPECT_EQ(counters().by_tick_outcome[abi::TICK_EMITTED], 1U);
}

// The walk has met [98], [70] and [99], in this order.

// The host process has 62 free ids.

TEST_F(PauseWalk, FitsBehindTheDeepestStack) {
    std::vector<std::uint64_t> kernel(abi::MAX_KERNEL_FRAMES, 0xffffffff81000001);
    fake_kernel_stack(kernel);
    std::vector<std::uint64_t> words(1022 * 2, kProgramStart + 0x109);
    words.insert(words.end(), {0, kLibraryStart + 9});
    const std::uint64_t rsp = kStack + words.size() * 8;
    words.resize((kStackMappingEnd - kStack) / 8, 1);
    fake_user_memory(kStack, std::as_bytes(std::span(words)));
    constexpr std::uint64_t kRedZoneBytes = 128;
    host_set_start_stack(rsp - kRedZoneBytes + abi::MAX_STACK_COPY_BYTES - 256);
    tick({kProgramStart + 0x108, kStack, 0, 0}, true);
    const auto sample = take_apart(fake_ring_records(host_map_samples()).back());
    EXPECT_EQ(sample.header.kernel_frame_count, abi::MAX_KERNEL_FRAMES);
    EXPECT_EQ(sample.header.user_frame_count, abi::MAX_USER_FRAMES);
    EXPECT_EQ(sample.header.flags, abi::SAMPLE_HAS_PAUSED_WALK | abi::SAMPLE_IN_KERNEL_MODE);
    EXPECT_EQ(sample.walk.rsp, rsp);
    EXPECT_EQ(sample.stack.size() * 8, unsigned{abi::MAX_STACK_COPY_BYTES});
    EXPECT_THAT(std::span(sample.stack).subspan(kRedZoneBytes / 8), Each(1U));
    EXPECT_EQ(sample.record_bytes, 80U + 1151 * 8 + 272 + 4 * 32 + 65536);
}

}  // namespace
}  // namespace bobbin
