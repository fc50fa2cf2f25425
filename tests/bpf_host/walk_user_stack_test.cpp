// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host_process.h"

namespace bobbin {
namespace {

using testing::ElementsAre;

class WalkUserStack : public HostProcess {};

// f at 0x100 (32-byte frame), called from main at 0x200 (rbp frame), called from _start at 0x300.
TEST_F(WalkUserStack, FollowsRulesOfRspAndRbpToTheOutermostFrame) {
    publish(kProgramInode, {{0x100, cfa_rsp(32)}, {0x200, cfa_rbp(16)}, {0x300, bottom()}});
    put_stack(kStack, {1, 2, 3, kProgramStart + 0x250,             // f: cfa = kStack + 32
                       4, 5, kStack + 200, kProgramStart + 0x310,  // main: rbp = kStack + 48
                       0, 0});
    const auto sample =
        tick({.rip = kProgramStart + 0x120, .rsp = kStack, .rbp = kStack + 48, .cs = 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_program(0x120), in_program(0x24f), in_program(0x30f)));
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
}

// The call is f's last instruction (a noreturn callee): its return address already belongs to g.
TEST_F(WalkUserStack, StepsAReturnAddressBackIntoTheCall) {
    publish(kProgramInode,
            {{0x100, cfa_rsp(16)}, {0x200, cfa_rsp(48)}, {0x300, cfa_rsp(8)}, {0x400, bottom()}});
    put_stack(kStack, {0, kProgramStart + 0x300, 0, 0, 0, 0, 0, kProgramStart + 0x410});
    const auto sample = tick({.rip = kProgramStart + 0x100, .rsp = kStack, .rbp = 0, .cs = 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_program(0x100), in_program(0x2ff), in_program(0x40f)));
}

TEST_F(WalkUserStack, RestoresRbpFromEverySlotOfACode) {
    for (int slot = 1; slot <= 6; ++slot) {
        SetUp();
        publish(kProgramInode, {{0x100, with_rbp_at(cfa_rsp(64), -8 - 8 * slot)},
                                {0x200, cfa_rbp(16)},
                                {0x300, bottom()}});
        std::vector<std::uint64_t> words(20);
        words[7] = kProgramStart + 0x250;                         // cfa = kStack + 64
        words[static_cast<std::size_t>(7 - slot)] = kStack + 96;  // the caller's rbp
        words[13] = kProgramStart + 0x320;                        // main: cfa = rbp + 16
        put_stack(kStack, words);
        const auto sample = tick({.rip = kProgramStart + 0x120, .rsp = kStack, .rbp = 0, .cs = 0});
        EXPECT_THAT(frames(sample.parsed.user_frames),
                    ElementsAre(in_program(0x120), in_program(0x24f), in_program(0x31f)))
            << "slot " << slot;
    }
}

TEST_F(WalkUserStack, CrossesFromOneFileIntoAnother) {
    publish(kLibraryInode, {{0x100, cfa_rsp(16)}});
    publish(kProgramInode, {{0x100, cfa_rsp(16)}, {0x200, bottom()}});
    put_stack(kStack, {0, kProgramStart + 0x110, 0, kLibraryStart + 0x150,  //
                       0, kProgramStart + 0x220});
    const auto sample = tick({.rip = kLibraryStart + 0x120, .rsp = kStack, .rbp = 0, .cs = 0});
    EXPECT_THAT(
        frames(sample.parsed.user_frames),
        ElementsAre(in_library(0x120), in_program(0x10f), in_library(0x14f), in_program(0x21f)));
    EXPECT_EQ(counters().mappings_found, 2U) << "a mapping is looked up once a sample";
}

// gcc -O2 with a 32-byte aligned local: cfa = *(rbp - 8), rbp at [rbp].
TEST_F(WalkUserStack, FollowsStackRealignment) {
    const cfi::UnwindRule realigned{.cfa = cfi::CfaKind::kDerefRegister,
                                    .cfa_register = cfi::kRbp,
                                    .rbp = cfi::RbpKind::kAtRbp,
                                    .cfa_offset = -8,
                                    .ra_offset = -8};
    publish(kProgramInode, {{0x100, realigned}, {0x200, cfa_rbp(16)}, {0x300, bottom()}});
    std::vector<std::uint64_t> words(20);
    words[3] = kStack + 80;            // [rbp - 8] = cfa
    words[4] = kStack + 112;           // [rbp] = the caller's rbp
    words[9] = kProgramStart + 0x240;  // [cfa - 8]
    words[15] = kProgramStart + 0x340;
    put_stack(kStack, words);
    const auto sample =
        tick({.rip = kProgramStart + 0x150, .rsp = kStack, .rbp = kStack + 32, .cs = 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_program(0x150), in_program(0x23f), in_program(0x33f)));
}

// A lazy PLT stub pushes its index at byte 6 (with threshold 11 in the rule: `endbr64` comes
// first).
TEST_F(WalkUserStack, KnowsWhichHalfOfAPltStubHasPushed) {
    const cfi::UnwindRule plt{.cfa = cfi::CfaKind::kPlt, .cfa_offset = 11, .ra_offset = -8};
    publish(kProgramInode, {{0x100, plt}, {0x200, bottom()}});
    put_stack(kStack, {kProgramStart + 0x210, kProgramStart + 0x220});
    const auto before = tick({.rip = kProgramStart + 0x10a, .rsp = kStack, .rbp = 0, .cs = 0});
    EXPECT_THAT(frames(before.parsed.user_frames),
                ElementsAre(in_program(0x10a), in_program(0x20f)));
    const auto after = tick({.rip = kProgramStart + 0x10b, .rsp = kStack, .rbp = 0, .cs = 0});
    EXPECT_THAT(frames(after.parsed.user_frames),
                ElementsAre(in_program(0x10b), in_program(0x21f)));
}

// The interrupted instruction is the first of its function: stepping back would find the one
// before.
TEST_F(WalkUserStack, CrossesASignalFrameToTheInterruptedInstruction) {
    publish(kLibraryInode, {{0x100, cfa_rsp(8)},
                            {0x200,
                             {.cfa = cfi::CfaKind::kRegisterOffset,
                              .cfa_register = cfi::kRsp,
                              .signal_frame = true,
                              .ra_offset = -8}}});
    publish(kProgramInode, {{0x100, bottom()}, {0x200, cfa_rsp(24)}, {0x300, bottom()}});
    std::vector<std::uint64_t> words(40);
    words[0] = kLibraryStart + 0x201;  // handler's return address: __restore_rt, after its `nop`
    const std::uint64_t ucontext = kStack + 8;
    words[1 + (40 + 80) / 8] = 0x1234;                  // rbp
    words[1 + (40 + 120) / 8] = kStack + 0x110;         // rsp
    words[1 + (40 + 128) / 8] = kProgramStart + 0x200;  // rip
    words[0x110 / 8 + 2] = kProgramStart + 0x310;
    ASSERT_EQ(ucontext % 8, 0U);
    put_stack(kStack, words);
    const auto sample = tick({.rip = kLibraryStart + 0x150, .rsp = kStack, .rbp = 0, .cs = 0});
    EXPECT_THAT(
        frames(sample.parsed.user_frames),
        ElementsAre(in_library(0x150), in_library(0x201), in_program(0x200), in_program(0x30f)));
}

TEST_F(WalkUserStack, FollowsTheFramePointerThroughGeneratedCodeAndMarksWhatItFound) {
    publish(kProgramInode, {{0x100, cfa_rsp(16)}, {0x200, bottom()}});
    put_stack(kStack, {0, 0, kStack + 64, kProgramStart + 0x110,  // [rbp], [rbp + 8]
                       0, kProgramStart + 0x210});
    const auto sample =
        tick({.rip = kGeneratedCode + 8, .rsp = kStack, .rbp = kStack + 16, .cs = 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(FRAME_IS_ANONYMOUS | (kGeneratedCode + 8),
                            FRAME_BY_FRAME_POINTER | in_program(0x10f), in_program(0x20f)));
}

TEST_F(WalkUserStack, UnwindsTheVdsoByItsReservedTable) {
    publish(kProgramInode, {{0x100, bottom()}});
    put_stack(kStack, {kProgramStart + 0x110});
    const auto sample = tick({.rip = kVdso + 0x800, .rsp = kStack, .rbp = kStack, .cs = 0});
    ASSERT_FALSE(sample.parsed.user_frames.empty());
    EXPECT_EQ(sample.parsed.user_frames[0],
              std::uint64_t{EXECUTABLE_ID_VDSO} << FRAME_EXECUTABLE_SHIFT | 0x800);
}

TEST_F(WalkUserStack, ReadsAWindowForManyFramesAndNeverThePageBehindTheStack) {
    publish(kProgramInode, {{0x100, cfa_rsp(16)}, {0x200, bottom()}});
    // 255 frames of 16 bytes fill one page exactly; nothing lies behind it.
    std::vector<std::uint64_t> words;
    for (int i = 0; i < 255; ++i) words.insert(words.end(), {0, kProgramStart + 0x110});
    words.insert(words.end(), {0, kProgramStart + 0x210});
    ASSERT_EQ(words.size() * 8, 4096U);
    put_stack(kStack, words);
    const auto sample = tick({.rip = kProgramStart + 0x120, .rsp = kStack, .rbp = 0, .cs = 0});
    EXPECT_EQ(sample.parsed.user_frames.size(), 257U);
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
    // 4096 bytes by windows of 1024 that begin at the first return address.
    EXPECT_LE(fake_user_read_count(), 5U);
}

TEST_F(WalkUserStack, KeepsThe1024FramesNearestTheLeaf) {
    publish(kProgramInode, {{0x100, cfa_rsp(16)}, {0x200, bottom()}});
    std::vector<std::uint64_t> words;
    for (int i = 0; i < 1100; ++i) words.insert(words.end(), {0, kProgramStart + 0x110});
    put_stack(kStack, words);
    const auto sample = tick({.rip = kProgramStart + 0x120, .rsp = kStack, .rbp = 0, .cs = 0});
    EXPECT_EQ(sample.parsed.user_frames.size(), 1024U);
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_TRUNCATED);
}

struct EndCase {
    const char* what;
    host_registers registers;
    abi::walk_end end;
};

class WalkEnds : public HostProcess {};

TEST_F(WalkEnds, EachWithItsOwnReason) {
    const cfi::UnwindRule by_r10{
        .cfa = cfi::CfaKind::kRegisterOffset, .cfa_register = 10, .ra_offset = -8};
    const cfi::UnwindRule expression{.cfa = cfi::CfaKind::kExpression, .ra_offset = -8};
    publish(kProgramInode, {{0x100, cfa_rsp(16)},
                            {0x200, cfa_rbp(16)},
                            {0x300, by_r10},
                            {0x400, expression},
                            {0x500, {}}});
    const std::uint64_t text = kProgramStart;
    const std::uint64_t nowhere = 0x1000;
    put_stack(kStack, {0, 0, 0, 0});
    put_stack(kStack + 0x1000, {0, kData + 0x10});
    const EndCase cases[] = {
        {"a zero return address", {text + 0x110, kStack, 0, 0}, abi::WALK_END_BOTTOM},
        {"unmapped pc", {nowhere, kStack, 0, 0}, abi::WALK_END_NO_MAPPING},
        {"pc in data", {kData, kStack, 0, 0}, abi::WALK_END_NO_MAPPING},
        {"return into data", {text + 0x110, kStack + 0x1000, 0, 0}, abi::WALK_END_NO_MAPPING},
        {"unmapped stack", {text + 0x110, nowhere, 0, 0}, abi::WALK_END_STACK_UNREADABLE},
        {"rbp below rsp", {text + 0x210, kStack, kStack - 64, 0}, abi::WALK_END_IMPOSSIBLE_FRAME},
        {"askew rbp", {text + 0x210, kStack, kStack + 3, 0}, abi::WALK_END_IMPOSSIBLE_FRAME},
        {"expression", {text + 0x410, kStack, 0, 0}, abi::WALK_END_UNSUPPORTED_RULE},
        {"no CFI, no rbp", {text + 0x510, kStack, 0, 0}, abi::WALK_END_NO_CFI},
        {"JIT without rbp", {kGeneratedCode, kStack, 1, 0}, abi::WALK_END_ANONYMOUS},
    };
    for (const EndCase& one : cases) {
        const auto sample = tick(one.registers);
        ASSERT_NE(sample.parsed.header, nullptr) << one.what;
        EXPECT_EQ(sample.parsed.header->walk_end, one.end) << one.what;
        EXPECT_EQ(sample.parsed.user_frames.size(), 1U) << one.what;
    }
}

TEST_F(WalkEnds, AtAFileThatIsNotReadyOrRefused) {
    publish(kProgramInode, {{0x100, bottom()}});
    const host_registers in_the_library{kLibraryStart + 8, kStack, 1, 0};
    set_file_state(kLibraryInode, abi::FILE_ANNOUNCED);
    EXPECT_EQ(tick(in_the_library).parsed.header->walk_end, abi::WALK_END_FILE_NOT_READY);
    set_file_state(kLibraryInode, abi::FILE_REFUSED);
    const auto refused = tick(in_the_library);
    EXPECT_EQ(refused.parsed.header->walk_end, abi::WALK_END_FILE_REFUSED);
    EXPECT_THAT(frames(refused.parsed.user_frames), ElementsAre(in_library(8)))
        << "the frame can be named all the same";
}

// ld.so's _start has no CFI and no frame pointer; it is the bottom all the same.
TEST_F(WalkUserStack, KnowsTheKernelsEntryIntoTheProcessByItsStackPointer) {
    publish(kProgramInode, {{0x100, {}}, {0x200, cfa_rsp(16)}});
    put_stack(kStack, {0, kProgramStart + 0x110, 1});
    host_set_start_stack(kStack + 16);
    const host_registers registers{kProgramStart + 0x210, kStack, 0, 0};
    EXPECT_EQ(tick(registers).parsed.header->walk_end, abi::WALK_END_BOTTOM);
    host_set_start_stack(kStack + 24);
    EXPECT_EQ(tick(registers).parsed.header->walk_end, abi::WALK_END_NO_CFI);
}

// Its callers' files are as good as any, if it keeps frame pointers.
TEST_F(WalkUserStack, FollowsTheFramePointerThroughARefusedFile) {
    publish(kProgramInode, {{0x100, bottom()}});
    set_file_state(kLibraryInode, abi::FILE_REFUSED);
    put_stack(kStack, {0, 0, 0, kProgramStart + 0x110});
    const auto sample =
        tick({.rip = kLibraryStart + 8, .rsp = kStack, .rbp = kStack + 16, .cs = 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_library(8), FRAME_BY_FRAME_POINTER | in_program(0x10f)));
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
}

TEST_F(WalkEnds, At32BitProcesses) {
    host_registers registers{kProgramStart, kStack, 0, 0x23};
    host_tick(&registers, 0);
    EXPECT_EQ(last_sample().parsed.header->walk_end, abi::WALK_END_32_BIT);
}

}  // namespace
}  // namespace bobbin
