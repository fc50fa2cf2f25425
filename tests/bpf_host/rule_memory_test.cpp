// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "host_process.h"

namespace bobbin {
namespace {

using testing::ElementsAre;

// f at 0x100 calls g at 0x200 calls the bottom at 0x300; a leaf of the library calls f.
class RuleMemory : public HostProcess {
protected:
    void SetUp() override {
        HostProcess::SetUp();
        publish(kProgramInode, {{0x100, cfa_rsp(16)}, {0x200, cfa_rsp(24)}, {0x300, bottom()}});
        publish(kLibraryInode, {{0x100, cfa_rsp(8)}});
        put_stack(kStack,
                  {kProgramStart + 0x110, 0, kProgramStart + 0x210, 0, 0, kProgramStart + 0x310});
    }
    const host_registers leaf_{kLibraryStart + 0x110, kStack, 0, 0};

    std::vector<abi::frame_word> whole_stack() {
        return {in_library(0x110), in_program(0x10f), in_program(0x20f), in_program(0x30f)};
    }
    void map_the_library_again(std::uint64_t inode) {
        const host_mapping mappings[] = {
            {kProgramStart, kProgramStart + kTextBytes, kTextFileOffset, kProgramInode, 1},
            {kLibraryStart, kLibraryStart + kTextBytes, kTextFileOffset, inode, 1},
            {kStackMappingStart, kStackMappingEnd, 0, 0, 0},
        };
        host_set_process(mappings, std::size(mappings), kVdso);
    }
    std::uint64_t hits_of_next_tick() {
        const std::uint64_t before = counters().rule_memory_hits;
        EXPECT_THAT(frames(tick(leaf_).parsed.user_frames), testing::ContainerEq(whole_stack()));
        return counters().rule_memory_hits - before;
    }
};

TEST_F(RuleMemory, KnowsEveryReturnAddressOfTheLastWalk) {
    EXPECT_EQ(hits_of_next_tick(), 0U);
    EXPECT_EQ(hits_of_next_tick(), 3U) << "all but the leaf";
    EXPECT_EQ(hits_of_next_tick(), 3U) << "what was recalled is remembered";
    EXPECT_EQ(counters().mappings_found, 2U) << "neither mapping was looked for again";
}

TEST_F(RuleMemory, CanBeTurnedOff) {
    host_set_rule_memory(0, 0);
    hits_of_next_tick();
    EXPECT_EQ(hits_of_next_tick(), 0U);
}

TEST_F(RuleMemory, IsVoidWhereAnotherFileIsMapped) {
    constexpr std::uint64_t kOtherInode = 300;
    publish(kOtherInode, {{0x100, cfa_rsp(24)}});
    // The library's frame is the second one: its return address stays, its rule does not.
    const host_registers leaf{kProgramStart + 0x110, kStack, 0, 0};
    put_stack(kStack, {0, kLibraryStart + 0x110, kProgramStart + 0x310, 0, kProgramStart + 0x320});
    const auto by_the_first = frames(tick(leaf).parsed.user_frames);
    EXPECT_THAT(by_the_first, ElementsAre(in_program(0x110), in_library(0x10f), in_program(0x30f)));
    EXPECT_THAT(frames(tick(leaf).parsed.user_frames), testing::ContainerEq(by_the_first));
    const std::uint64_t hits = counters().rule_memory_hits;
    EXPECT_EQ(hits, 2U);
    map_the_library_again(kOtherInode);
    EXPECT_THAT(frames(tick(leaf).parsed.user_frames),
                ElementsAre(in_program(0x110), in_file(kOtherInode, 0x10f), in_program(0x31f)));
    EXPECT_EQ(counters().rule_memory_hits, hits);
}

// The rules of places hold; where an address is has to be asked again. An odd number: somebody is
// changing mappings right now.
TEST_F(RuleMemory, AsksForTheMappingsAgainWhenOneMayHaveChanged) {
    const auto mappings_of_next_tick = [this] {
        const std::uint64_t before = counters().mappings_found;
        EXPECT_EQ(hits_of_next_tick(), 3U);
        return counters().mappings_found - before;
    };
    host_set_mmap_lock_sequence(100);
    hits_of_next_tick();
    EXPECT_EQ(mappings_of_next_tick(), 0U);
    host_set_mmap_lock_sequence(101);
    EXPECT_EQ(mappings_of_next_tick(), 2U);
    EXPECT_EQ(mappings_of_next_tick(), 2U);
    host_set_mmap_lock_sequence(102);
    EXPECT_EQ(mappings_of_next_tick(), 2U);
    EXPECT_EQ(mappings_of_next_tick(), 0U);
}

TEST_F(RuleMemory, IsVoidWhenATableWasTakenAway) {
    hits_of_next_tick();
    host_set_rule_generation(1);
    EXPECT_EQ(hits_of_next_tick(), 0U);
    EXPECT_EQ(hits_of_next_tick(), 3U);
    host_set_rule_generation(0);
}

TEST_F(RuleMemory, HoldsNoFrameOfAFileThatWasNotReady) {
    set_file_state(kProgramInode, abi::FILE_ANNOUNCED);
    EXPECT_EQ(tick(leaf_).parsed.user_frames.size(), 2U);
    set_file_state(kProgramInode, abi::FILE_READY);
    EXPECT_EQ(hits_of_next_tick(), 0U);
}

TEST_F(RuleMemory, HoldsNoGuessByFramePointer) {
    publish(kProgramInode, {{0x300, bottom()}});
    set_file_state(kLibraryInode, abi::FILE_REFUSED);
    // Twice through the refused file, then into the program.
    put_stack(kStack, {0, 0, kStack + 32, kLibraryStart + 0x200, 0, kProgramStart + 0x310});
    const host_registers leaf{kLibraryStart + 0x110, kStack, kStack + 16, 0};
    const auto first = frames(tick(leaf).parsed.user_frames);
    EXPECT_THAT(first, ElementsAre(in_library(0x110), FRAME_BY_FRAME_POINTER | in_library(0x1ff),
                                   FRAME_BY_FRAME_POINTER | in_program(0x30f)));
    EXPECT_THAT(frames(tick(leaf).parsed.user_frames), testing::ContainerEq(first));
    EXPECT_EQ(counters().rule_memory_hits, 1U) << "the program's frame alone";
}

// The check can fail: a table changes under the memory, which user space never does without a new
// generation.
TEST_F(RuleMemory, IsFoundOutWhenItDiffersFromTheTables) {
    host_set_rule_memory(1, 1);
    hits_of_next_tick();
    EXPECT_EQ(hits_of_next_tick(), 3U);
    EXPECT_EQ(counters().rule_memory_differences, 0U);
    publish(kProgramInode, {{0x100, bottom()}, {0x200, cfa_rsp(24)}});
    EXPECT_THAT(frames(tick(leaf_).parsed.user_frames),
                ElementsAre(in_library(0x110), in_program(0x10f)));
    EXPECT_EQ(counters().rule_memory_differences, 1U);
}

// Stacks of random frames, each partly the one before.
TEST_F(RuleMemory, GivesWhatTheTablesGiveForAnyStack) {
    std::mt19937 random(1);
    const auto pick = [&](std::size_t count) { return random() % count; };
    std::vector<std::uint64_t> callees;  // the outermost first
    std::uint64_t hits_with_memory = 0;
    for (int round = 0; round < 500; ++round) {
        callees.resize(pick(callees.size() + 1));
        for (std::size_t added = pick(12); added > 0; --added)
            callees.push_back(kProgramStart + (pick(2) == 0 ? 0x110 : 0x210) + pick(8));
        std::vector<std::uint64_t> words{callees.empty() ? kProgramStart + 0x310 : callees.back()};
        for (std::size_t i = callees.size(); i-- > 0;) {
            words.resize(words.size() + (callees[i] < kProgramStart + 0x200 ? 1 : 2));
            words.push_back(i > 0 ? callees[i - 1] : kProgramStart + 0x310);
        }
        const std::uint64_t rsp = kStack + 0x4000 - words.size() * 8;
        put_stack(rsp, words);
        const host_registers leaf{kLibraryStart + 0x110, rsp, 0, 0};
        host_set_rule_memory(1, 0);
        const auto with_memory = frames(tick(leaf).parsed.user_frames);
        hits_with_memory = counters().rule_memory_hits;
        host_set_rule_memory(0, 0);
        EXPECT_THAT(with_memory, testing::ContainerEq(frames(tick(leaf).parsed.user_frames)));
        EXPECT_EQ(with_memory.size(), callees.size() + 2);
    }
    EXPECT_GT(hits_with_memory, 1000U);
}

}  // namespace
}  // namespace bobbin
