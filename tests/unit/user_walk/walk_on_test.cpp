// SPDX-License-Identifier: Apache-2.0
// Walks over tables and stacks that are written out here: every address is arithmetic by hand.
#include "user_walk/walk_on.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "support/paused_record.h"

namespace bobbin::user_walk {
namespace {

using test::PausedRecord;

constexpr std::uint32_t kProgram = 2;
constexpr std::uint32_t kLibrary = 3;
constexpr std::uint64_t kProgramVaddr = 0x400000;
constexpr std::uint64_t kLibraryVaddr = 0x7f0000000000;
constexpr std::uint64_t kStackVaddr = 0x7ffc00001000;

// cfa = rsp + 8 * words, return address at cfa - 8, rbp unchanged.
constexpr std::uint32_t rsp_plus(std::uint32_t words) { return words; }
constexpr std::uint32_t rbp_in_slot(std::uint32_t slot) { return slot << abi::CODE_RBP_SLOT_SHIFT; }
constexpr std::uint32_t entry(std::uint32_t file_offset, std::uint32_t code) {
    return file_offset << abi::ENTRY_OFFSET_SHIFT | code;
}

// Two files of 16 KiB, each one granule. In the program code below 0x100 has frames of two words,
// that below 0x200 is outermost (special 1), and the rest has frames of four with rbp saved below
// the return address. In the library all frames are of three words.
class FixedTables final : public TableSource {
public:
    FixedTables()
        : executables_(abi::MAX_EXECUTABLES),
          macros_(abi::MAX_MACROS),
          special_rules_(abi::MAX_SPECIAL_RULES),
          buckets_(abi::MAX_BUCKETS) {
        special_rules_[1].cfa = abi::SPECIAL_CFA_RSP;
        special_rules_[1].return_address = abi::SPECIAL_RA_UNDEFINED;
        words_.resize(abi::BUCKET_WORDS);
        // A line a file; what is left of it repeats the last word.
        const auto program = words_.begin();
        std::fill_n(program, abi::LINE_WORDS, entry(0x200, rsp_plus(4) | rbp_in_slot(1)));
        program[0] = entry(0, rsp_plus(2));
        program[1] = entry(0x100, abi::CODE_SPECIAL | 1);
        std::fill_n(program + abi::LINE_WORDS, abi::LINE_WORDS, entry(0, rsp_plus(3)));
        executables_[kProgram] = geometry(0);
        executables_[kLibrary] = geometry(abi::LINE_WORDS);
    }

    unwind_tables tables() override {
        buckets_[0] = has_bucket ? words_.data() : nullptr;
        return {.executables = executables_.data(),
                .special_rules = special_rules_.data(),
                .macros = macros_.data(),
                .buckets = buckets_.data()};
    }
    bool add_bucket(std::uint32_t bucket) override {
        asked_for.push_back(bucket);
        has_bucket = may_have_bucket;
        return may_have_bucket;
    }

    bool has_bucket = true;
    bool may_have_bucket = true;
    std::vector<std::uint32_t> asked_for;

private:
    static abi::executable geometry(std::uint32_t first_word) {
        return {.base_file_offset = 0,
                .first_word = first_word,
                .granule_count = 1,
                .granule_shift = abi::MAX_GRANULE_SHIFT,
                .is_ready = 1};
    }

    std::vector<abi::executable> executables_;
    std::vector<abi::macro> macros_;
    std::vector<abi::special_rule> special_rules_;
    std::vector<std::uint32_t> words_;
    std::vector<const std::uint32_t*> buckets_;
};

abi::frame_word frame(std::uint32_t id, std::uint64_t file_offset) {
    return std::uint64_t{id} << FRAME_EXECUTABLE_SHIFT | file_offset;
}

class WalkOn : public testing::Test {
protected:
    WalkOn() {
        record_.mappings = {{.vm_start_vaddr = kProgramVaddr,
                             .vm_end_vaddr = kProgramVaddr + 0x4000,
                             .file_offset = 0,
                             .executable_id = kProgram,
                             .flags = 0},
                            {.vm_start_vaddr = kLibraryVaddr,
                             .vm_end_vaddr = kLibraryVaddr + 0x4000,
                             .file_offset = 0,
                             .executable_id = kLibrary,
                             .flags = 0}};
        record_.walk.awaited_executable_id = kLibrary;
        record_.walk.rsp = kStackVaddr;
        record_.walk.rip = kLibraryVaddr + 0x50;
    }

    ContinuedWalk walk_on_from_here(std::uint32_t most_frames = abi::MAX_USER_FRAMES) {
        return walk_on(tables_, walk_, most_frames,
                       [this](std::uint32_t id) { return states_.at(id); });
    }

    ContinuedWalk walk_record(std::uint32_t most_frames = abi::MAX_USER_FRAMES) {
        bytes_ = record_.bytes();
        const auto walk = parse_paused_walk(bytes_);
        EXPECT_TRUE(walk);
        if (!walk) return {};
        walk_ = *walk;
        return walk_on_from_here(most_frames);
    }

    FixedTables tables_;
    PausedRecord record_;
    std::map<std::uint32_t, abi::file_state> states_{{kProgram, abi::FILE_READY},
                                                     {kLibrary, abi::FILE_READY}};
    std::vector<std::byte> bytes_;
    PausedWalk walk_;
};

// Library, three words; program, two; program's bottom.
const std::array<std::uint64_t, 5> kStack = {0xa, 0xb, kProgramVaddr + 0x41, 0xc,
                                             kProgramVaddr + 0x151};

TEST_F(WalkOn, TakesTheStepsToTheBottom) {
    record_.set_stack(kStackVaddr, kStack);
    const ContinuedWalk walked = walk_record();
    EXPECT_EQ(walked.end, abi::WALK_END_BOTTOM);
    // Return addresses are stepped back by one.
    EXPECT_EQ(walked.frames,
              (std::vector<abi::frame_word>{frame(kLibrary, 0x50), frame(kProgram, 0x40),
                                            frame(kProgram, 0x150)}));
}

TEST_F(WalkOn, PausesAtTheNextFileThatIsNotReadyAndGoesOnFromThere) {
    record_.set_stack(kStackVaddr, kStack);
    states_[kProgram] = abi::FILE_ANNOUNCED;
    const ContinuedWalk first = walk_record();
    EXPECT_EQ(first.end, abi::WALK_END_FILE_NOT_READY);
    EXPECT_EQ(first.frames,
              (std::vector<abi::frame_word>{frame(kLibrary, 0x50), frame(kProgram, 0x40)}));
    EXPECT_EQ(walk_.position.awaited_executable_id, kProgram);
    EXPECT_EQ(walk_.position.rip, kProgramVaddr + 0x41);
    EXPECT_EQ(walk_.position.rsp, kStackVaddr + 24);
    EXPECT_EQ(walk_.position.flags, abi::PAUSED_AT_RETURN_ADDRESS);
    states_[kProgram] = abi::FILE_READY;
    const ContinuedWalk second = walk_on_from_here();
    EXPECT_EQ(second.end, abi::WALK_END_BOTTOM);
    EXPECT_EQ(second.frames,
              (std::vector<abi::frame_word>{frame(kProgram, 0x40), frame(kProgram, 0x150)}));
}

TEST_F(WalkOn, EndsWhereTheStackWasNotCopied) {
    record_.set_stack(kStackVaddr, std::span(kStack).first(4));
    const ContinuedWalk walked = walk_record();
    EXPECT_EQ(walked.end, abi::WALK_END_STACK_UNREADABLE);
    EXPECT_EQ(walked.frames,
              (std::vector<abi::frame_word>{frame(kLibrary, 0x50), frame(kProgram, 0x40)}));
}

TEST_F(WalkOn, FollowsTheFramePointerThroughARefusedFile) {
    // [rbp] = caller's rbp, [rbp + 8] = return address
    const std::array<std::uint64_t, 4> stack = {0xa, kStackVaddr, 0x1, kProgramVaddr + 0x151};
    record_.set_stack(kStackVaddr, stack);
    record_.walk.rbp = kStackVaddr + 16;
    states_[kLibrary] = abi::FILE_REFUSED;
    const ContinuedWalk walked = walk_record();
    EXPECT_EQ(walked.end, abi::WALK_END_BOTTOM);
    EXPECT_EQ(walked.frames,
              (std::vector<abi::frame_word>{frame(kLibrary, 0x50),
                                            frame(kProgram, 0x150) | FRAME_BY_FRAME_POINTER}));
}

TEST_F(WalkOn, TakesNoWordFromBesideTheStackForAFramePointer) {
    record_.set_stack(kStackVaddr, kStack);
    record_.walk.rbp = kStackVaddr + 8 * kStack.size() - 8;
    states_[kLibrary] = abi::FILE_REFUSED;
    EXPECT_EQ(walk_record().end, abi::WALK_END_FILE_REFUSED);
}

TEST_F(WalkOn, StopsAtAsManyFramesAsThereIsRoomFor) {
    record_.set_stack(kStackVaddr, kStack);
    const ContinuedWalk walked = walk_record(2);
    EXPECT_EQ(walked.end, abi::WALK_END_TRUNCATED);
    EXPECT_EQ(walked.frames.size(), 2U);
}

TEST_F(WalkOn, RestoresWhetherTheFrameWasAGuess) {
    record_.set_stack(kStackVaddr, kStack);
    record_.walk.by_frame_pointer = abi::WALK_END_NO_CFI;
    record_.walk.flags = abi::PAUSED_AT_RETURN_ADDRESS;
    const ContinuedWalk walked = walk_record();
    ASSERT_FALSE(walked.frames.empty());
    EXPECT_EQ(walked.frames.front(), frame(kLibrary, 0x4f) | FRAME_BY_FRAME_POINTER);
    EXPECT_EQ(walked.frames.at(1), frame(kProgram, 0x40));
}

// ld.so's _start has no CFI and is known by rsp.
TEST_F(WalkOn, KnowsWhereTheKernelEnteredTheProcess) {
    record_.set_stack(kStackVaddr, kStack);
    states_[kLibrary] = abi::FILE_REFUSED;
    record_.walk.start_stack_vaddr = kStackVaddr;
    EXPECT_EQ(walk_record().end, abi::WALK_END_BOTTOM);
    record_.walk.start_stack_vaddr = kStackVaddr + 16;
    EXPECT_EQ(walk_record().end, abi::WALK_END_FILE_REFUSED);
}

TEST_F(WalkOn, AsksForABucketThatIsMissing) {
    record_.set_stack(kStackVaddr, kStack);
    tables_.has_bucket = false;
    EXPECT_EQ(walk_record().end, abi::WALK_END_BOTTOM);
    EXPECT_EQ(tables_.asked_for, std::vector<std::uint32_t>{0});
}

TEST_F(WalkOn, StaysWhereItIsWithoutABucket) {
    record_.set_stack(kStackVaddr, kStack);
    tables_.has_bucket = false;
    tables_.may_have_bucket = false;
    const ContinuedWalk walked = walk_record();
    EXPECT_EQ(walked.end, abi::WALK_END_FILE_NOT_READY);
    EXPECT_TRUE(walked.frames.empty());
    EXPECT_EQ(walk_.position.rip, kLibraryVaddr + 0x50);
}

TEST_F(WalkOn, EndsAtAFileWithoutAnId) {
    record_.set_stack(kStackVaddr, kStack);
    record_.mappings[0].executable_id = 0;
    record_.mappings[0].flags = abi::PAUSED_FILE_UNKNOWN;
    EXPECT_EQ(walk_record().end, abi::WALK_END_FILES_FULL);
}

TEST_F(WalkOn, KnowsThatNotAllMappingsWereListed) {
    record_.set_stack(kStackVaddr, kStack);
    record_.mappings.erase(record_.mappings.begin());
    EXPECT_EQ(walk_record().end, abi::WALK_END_NO_MAPPING);
    record_.walk.flags = abi::PAUSED_MAPPINGS_CUT;
    EXPECT_EQ(walk_record().end, abi::WALK_END_MAPPING_UNREADABLE);
}

}  // namespace
}  // namespace bobbin::user_walk
