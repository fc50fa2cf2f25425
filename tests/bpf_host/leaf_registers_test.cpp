// SPDX-License-Identifier: Apache-2.0
// Rules that ask for registers which only the innermost frame, or one that a signal interrupted,
// has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host_process.h"

namespace bobbin {
namespace {

using testing::ElementsAre;

constexpr std::uint8_t kRdi = 5;
constexpr std::uint8_t kR10 = 10;

class LeafRegisters : public HostProcess {
protected:
    static cfi::UnwindRule cfa_by(std::uint8_t register_number) {
        return {.cfa = cfi::CfaKind::kRegisterOffset,
                .cfa_register = register_number,
                .cfa_offset = 8,
                .ra_offset = -8};
    }
    static cfi::UnwindRule signal_frame() {
        return {.cfa = cfi::CfaKind::kRegisterOffset,
                .cfa_register = cfi::kRsp,
                .signal_frame = true,
                .ra_offset = -8};
    }
    static void set_register(std::uint8_t number, std::uint64_t value) {
        __u64 registers[16];
        for (__u64& other : registers) other = 0xdead;
        registers[number] = value;
        host_set_other_registers(registers);
    }
    // Word of struct sigcontext (asm/sigcontext.h) by DWARF number: r8 to r15, rdi, rsi, rbp, rbx,
    // rdx, rax, rcx, rsp, rip.
    static std::size_t sigcontext_word(std::uint8_t dwarf_number) {
        constexpr std::size_t kWords[] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7};
        return kWords[dwarf_number];
    }
};

TEST_F(LeafRegisters, AreAllKnownWhereTheTickHit) {
    for (std::uint8_t number = 0; number < 16; ++number) {
        if (number == cfi::kRbp || number == cfi::kRsp) continue;
        SetUp();
        publish(kProgramInode, {{0x100, cfa_by(number)}, {0x200, bottom()}});
        put_stack(kStack, {0, 0, 0, 0, kProgramStart + 0x210});
        set_register(number, kStack + 32);
        for (const bool in_kernel_mode : {false, true}) {
            const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0}, in_kernel_mode);
            EXPECT_THAT(frames(sample.parsed.user_frames),
                        ElementsAre(in_program(0x110), in_program(0x20f)))
                << "register " << int{number} << (in_kernel_mode ? " in the kernel" : "");
        }
    }
}

TEST_F(LeafRegisters, AreUnknownInACaller) {
    publish(kProgramInode, {{0x100, cfa_rsp(16)}, {0x200, cfa_by(kR10)}, {0x300, bottom()}});
    put_stack(kStack, {0, kProgramStart + 0x210, 0, 0, kProgramStart + 0x310});
    set_register(kR10, kStack + 32);
    const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_program(0x110), in_program(0x20f)));
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_REGISTER_UNKNOWN);
}

// As in ld.so's lazy binding: the resolver finds its frame by rbx, which the functions it calls
// save.
TEST_F(LeafRegisters, RbxIsFollowedWhereAllRulesSayWhereItIs) {
    cfi::UnwindRule keeps = cfa_rsp(16), saves = cfa_rsp(24), by_rbx = cfa_by(cfi::kRbx);
    keeps.rbx_words = 1;
    saves.rbx_words = 3;  // cfa - 24
    by_rbx.rbx_words = 2;
    publish(kProgramInode, {{0x100, keeps}, {0x200, saves}, {0x300, by_rbx}, {0x400, bottom()}});
    // 0x100: 2 words, 0x200: rbx, padding, return address, 0x300: at rbx, the rest
    put_stack(kStack, {0, kProgramStart + 0x210, kStack + 72, 0, kProgramStart + 0x310, 0, 0, 0, 0,
                       kProgramStart + 0x410});
    set_register(cfi::kRbx, 0xdead);
    const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0});
    EXPECT_THAT(
        frames(sample.parsed.user_frames),
        ElementsAre(in_program(0x110), in_program(0x20f), in_program(0x30f), in_program(0x40f)));
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
}

TEST_F(LeafRegisters, RbxOfTheLeafReachesACallerThroughRulesThatKeepIt) {
    cfi::UnwindRule keeps = cfa_rsp(16), by_rbx = cfa_by(cfi::kRbx);
    keeps.rbx_words = 1;
    publish(kProgramInode, {{0x100, keeps}, {0x300, by_rbx}, {0x400, bottom()}});
    put_stack(kStack, {0, kProgramStart + 0x310, 0, kProgramStart + 0x410});
    set_register(cfi::kRbx, kStack + 24);
    const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_program(0x110), in_program(0x30f), in_program(0x40f)));
}

TEST_F(LeafRegisters, RbxIsUnknownBehindAFrameThatDoesNotSayWhereItIs) {
    publish(kLibraryInode, {{0x100, cfa_rsp(16)}});
    publish(kProgramInode, {{0x300, cfa_by(cfi::kRbx)}, {0x400, bottom()}});
    put_stack(kStack, {0, kProgramStart + 0x310, 0, kProgramStart + 0x410});
    set_register(cfi::kRbx, kStack + 24);
    const auto sample = tick({kLibraryStart + 0x110, kStack, 0, 0});
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_REGISTER_UNKNOWN);
}

TEST_F(LeafRegisters, AreKnownAgainWhereASignalInterrupted) {
    for (std::uint8_t number = 0; number < 16; ++number) {
        if (number == cfi::kRbp || number == cfi::kRsp) continue;
        SetUp();
        publish(kLibraryInode, {{0x100, cfa_rsp(8)}, {0x200, signal_frame()}});
        publish(kProgramInode, {{0x200, cfa_by(number)}, {0x300, bottom()}});
        std::vector<std::uint64_t> words(60);
        words[0] = kLibraryStart + 0x201;
        std::uint64_t* const sigcontext = &words[1 + 40 / 8];
        sigcontext[sigcontext_word(cfi::kRsp)] = kStack + 0x110;
        sigcontext[16] = kProgramStart + 0x200;
        sigcontext[sigcontext_word(number)] = kStack + 8 * 50;
        words[50] = kProgramStart + 0x310;
        put_stack(kStack, words);
        const auto sample = tick({kLibraryStart + 0x150, kStack, 0, 0});
        EXPECT_THAT(
            frames(sample.parsed.user_frames),
            ElementsAre(in_library(0x150), in_library(0x201), in_program(0x200), in_program(0x30f)))
            << "register " << int{number};
    }
}

// SA_ONSTACK: the interrupted frame's stack lies below the handler's; rbp goes with it.
TEST_F(LeafRegisters, OfAnInterruptedFrameMayPointBelowTheHandlersStack) {
    publish(kLibraryInode, {{0x100, cfa_rsp(8)}, {0x200, signal_frame()}});
    publish(kProgramInode, {{0x200, cfa_rbp(16)}, {0x300, cfa_rsp(16)}, {0x400, bottom()}});
    const std::uint64_t alternate_stack = kStack + 0x8000;
    std::vector<std::uint64_t> words(60);
    words[0] = kLibraryStart + 0x201;
    std::uint64_t* const sigcontext = &words[1 + 40 / 8];
    sigcontext[sigcontext_word(cfi::kRbp)] = kStack + 16;
    sigcontext[sigcontext_word(cfi::kRsp)] = kStack;
    sigcontext[16] = kProgramStart + 0x210;
    put_stack(alternate_stack, words);
    put_stack(kStack, {0, 0, 0x77, kProgramStart + 0x310, 0, kProgramStart + 0x410});
    for (const bool in_kernel_mode : {false, true}) {
        const auto sample = tick({kLibraryStart + 0x150, alternate_stack, 0, 0}, in_kernel_mode);
        EXPECT_THAT(frames(sample.parsed.user_frames),
                    ElementsAre(in_library(0x150), in_library(0x201), in_program(0x210),
                                in_program(0x30f), in_program(0x40f)));
        EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
    }
}

// glibc's vfork pops its return address into rdi: cfa = rsp + 0, return address in rdi.
TEST_F(LeafRegisters, HoldTheReturnAddressOfVfork) {
    publish(kLibraryInode, {{0x100,
                             {.cfa = cfi::CfaKind::kRegisterOffset,
                              .cfa_register = cfi::kRsp,
                              .return_address = cfi::ReturnAddressKind::kInRegister,
                              .cfa_offset = 0,
                              .ra_offset = kRdi}}});
    publish(kProgramInode, {{0x200, cfa_rsp(16)}, {0x300, bottom()}});
    put_stack(kStack, {0, kProgramStart + 0x310});
    set_register(kRdi, kProgramStart + 0x210);
    const auto sample = tick({kLibraryStart + 0x110, kStack, 0, 0}, true);
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_library(0x110), in_program(0x20f), in_program(0x30f)));
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
}

TEST_F(LeafRegisters, GiveNoFrameBelowTheStackPointer) {
    publish(kProgramInode, {{0x100, cfa_by(kR10)}, {0x200, bottom()}});
    put_stack(kStack - 64, std::vector<std::uint64_t>(20, kProgramStart + 0x210));
    set_register(kR10, kStack - 16);
    EXPECT_EQ(tick({kProgramStart + 0x110, kStack, 0, 0}).parsed.header->walk_end,
              abi::WALK_END_IMPOSSIBLE_FRAME);
}

// What switches to another stack says so, and is then believed.
TEST_F(LeafRegisters, GiveAFrameBelowTheStackPointerToARuleThatChangesStacks) {
    auto switching = cfa_by(kR10);
    switching.changes_stack = true;
    publish(kProgramInode, {{0x100, switching}, {0x200, bottom()}});
    put_stack(kStack - 64, std::vector<std::uint64_t>(20, kProgramStart + 0x210));
    set_register(kR10, kStack - 16);
    const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_program(0x110), in_program(0x20f)));
}

// The first byte of a cold part may be a landing pad: no call stands before it.
TEST_F(LeafRegisters, LeadToALandingPadAsItIs) {
    auto entering = cfa_by(cfi::kRcx);
    entering.enters_landing_pad = true;
    publish(kProgramInode, {{0x100, entering}, {0x200, bottom()}});
    put_stack(kStack, {0, 0, kProgramStart + 0x200});
    set_register(cfi::kRcx, kStack + 16);
    const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0});
    EXPECT_THAT(frames(sample.parsed.user_frames),
                ElementsAre(in_program(0x110), in_program(0x200)));
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
}

TEST_F(LeafRegisters, SayNothingOfACallerOnAnotherStack) {
    publish(kProgramInode, {{0x100,
                             {.cfa = cfi::CfaKind::kRegisterOffset,
                              .cfa_register = cfi::kRsp,
                              .return_address = cfi::ReturnAddressKind::kOtherStack,
                              .cfa_offset = 8}}});
    put_stack(kStack, {kProgramStart + 0x110});
    const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0});
    EXPECT_THAT(frames(sample.parsed.user_frames), ElementsAre(in_program(0x110)));
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_OTHER_STACK);
}

// io_uring's and vhost's workers have the process's mappings, but never were in user mode.
TEST_F(LeafRegisters, AreNotThereInAThreadTheKernelMade) {
    constexpr __u32 kIoWorker = 0x10;
    constexpr __u32 kUserWorker = 0x4000;
    publish(kProgramInode, {{0x100, bottom()}});
    for (const __u32 flags : {kIoWorker, kUserWorker}) {
        host_set_thread_flags(flags);
        const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0}, true);
        EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_NO_USER_STACK) << flags;
        EXPECT_TRUE(sample.parsed.user_frames.empty());
    }
    host_set_thread_flags(0x00400000);  // PF_RANDOMIZE, which every process has
    EXPECT_EQ(tick({kProgramStart + 0x110, kStack, 0, 0}, true).parsed.user_frames.size(), 1U);
}

}  // namespace
}  // namespace bobbin
