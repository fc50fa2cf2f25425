// SPDX-License-Identifier: Apache-2.0
#include "user_walk/paused_walk.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "support/paused_record.h"

namespace bobbin::user_walk {
namespace {

using test::PausedRecord;

constexpr std::uint64_t kStackVaddr = 0x7ffc00001000;

// Two mappings and 1,280 bytes of stack, 0, 1, 2 ... word by word: a whole block and a quarter.
PausedRecord sound_record() {
    PausedRecord record;
    record.walk.awaited_executable_id = 2;
    record.mappings = {{.vm_start_vaddr = 0x400000,
                        .vm_end_vaddr = 0x500000,
                        .file_offset = 0x1000,
                        .executable_id = 2,
                        .flags = 0},
                       {.vm_start_vaddr = 0x500000,
                        .vm_end_vaddr = 0x600000,
                        .file_offset = 0,
                        .executable_id = 3,
                        .flags = 0}};
    std::vector<std::uint64_t> words(160);
    std::iota(words.begin(), words.end(), std::uint64_t{0});
    record.set_stack(kStackVaddr, words);
    return record;
}

std::vector<std::uint64_t> read_words(const PausedMemory& memory, std::uint64_t vaddr,
                                      std::size_t count) {
    std::vector<std::uint64_t> words(count, ~std::uint64_t{0});
    const std::size_t bytes = memory.read(vaddr, std::as_writable_bytes(std::span(words)));
    words.resize(bytes / sizeof(words[0]));
    return words;
}

TEST(ParsePausedWalk, FindsMappingsAndStackBehindTheHead) {
    const auto bytes = sound_record().bytes();
    const auto walk = parse_paused_walk(bytes);
    ASSERT_TRUE(walk);
    ASSERT_EQ(walk->mappings.size(), 2U);
    EXPECT_EQ(walk->mappings[1].vm_start_vaddr, 0x500000U);
    EXPECT_EQ(walk->stack.size(), 1280U);
}

TEST(ParsePausedWalk, TakesNoOtherLengthThanTheHeadSays) {
    const auto bytes = sound_record().bytes();
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(parse_paused_walk(std::span(bytes).first(length))) << length;
    }
    auto longer = bytes;
    longer.resize(bytes.size() + 8);
    EXPECT_FALSE(parse_paused_walk(longer));
}

struct Damage {
    const char* what;
    std::function<void(PausedRecord&)> apply;
};
void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.what; }

class DamagedPausedWalk : public testing::TestWithParam<Damage> {};

TEST_P(DamagedPausedWalk, IsNotTaken) {
    PausedRecord record = sound_record();
    GetParam().apply(record);
    EXPECT_FALSE(parse_paused_walk(record.bytes()));
}

INSTANTIATE_TEST_SUITE_P(
    All, DamagedPausedWalk,
    testing::Values(
        Damage{"no file is awaited", [](auto& r) { r.walk.awaited_executable_id = 0; }},
        Damage{"an id behind the last one",
               [](auto& r) { r.walk.awaited_executable_id = abi::MAX_EXECUTABLE_IDS; }},
        Damage{"a mapping's id behind the last one",
               [](auto& r) { r.mappings[0].executable_id = abi::MAX_EXECUTABLE_IDS; }},
        Damage{"more mappings than allowed",
               [](auto& r) { r.mappings.assign(abi::MAX_PAUSED_MAPPINGS + 1, r.mappings[0]); }},
        Damage{"a mapping that ends before it starts",
               [](auto& r) { r.mappings[0].vm_end_vaddr = 0x3fffff; }},
        Damage{"mappings out of order", [](auto& r) { std::swap(r.mappings[0], r.mappings[1]); }},
        Damage{"mappings that overlap", [](auto& r) { r.mappings[1].vm_start_vaddr = 0x4fffff; }},
        Damage{"an unknown flag", [](auto& r) { r.walk.flags = 8; }},
        Damage{"an unknown end", [](auto& r) { r.walk.by_frame_pointer = abi::WALK_END_COUNT; }},
        Damage{"a stack at an odd address", [](auto& r) { r.walk.stack_vaddr += 4; }},
        Damage{"a stack that wraps around",
               [](auto& r) { r.walk.stack_vaddr = ~std::uint64_t{7}; }},
        Damage{"a span beyond the largest",
               [](auto& r) { r.walk.stack_span_bytes = abi::MAX_STACK_SPAN_BYTES + 8; }},
        Damage{"a block behind the span", [](auto& r) { r.walk.present[3] = 1ULL << 63; }},
        Damage{"more bytes than blocks are present", [](auto& r) { r.walk.present[0] = 1; }},
        Damage{"more blocks than bytes",
               [](auto& r) {
                   r.walk.present[0] = 7;
                   r.walk.stack_span_bytes = 3 * abi::STACK_BLOCK_BYTES;
               }},
        Damage{"more bytes than allowed", [](auto& r) {
                   r.stack.resize(abi::MAX_STACK_COPY_BYTES + abi::STACK_BLOCK_BYTES);
                   r.walk.stack_span_bytes = static_cast<std::uint32_t>(r.stack.size());
                   r.walk.present[0] = ~std::uint64_t{0};
                   r.walk.present[1] = 1;
               }}));

TEST(PausedMemory, ReadsAcrossBlocksAndStopsAtTheEndOfTheSpan) {
    const auto bytes = sound_record().bytes();
    const auto walk = parse_paused_walk(bytes);
    ASSERT_TRUE(walk);
    const PausedMemory memory(*walk);
    EXPECT_EQ(memory.first_run().size(), 1280U);
    // 1,024 bytes are 128 words.
    EXPECT_EQ(read_words(memory, kStackVaddr + 1008, 4),
              (std::vector<std::uint64_t>{126, 127, 128, 129}));
    EXPECT_EQ(read_words(memory, kStackVaddr + 1272, 4), (std::vector<std::uint64_t>{159}));
    EXPECT_TRUE(read_words(memory, kStackVaddr + 1280, 1).empty());
    EXPECT_TRUE(read_words(memory, kStackVaddr - 8, 1).empty());
}

TEST(PausedMemory, ReadsNothingOfBlocksThatAreAbsent) {
    PausedRecord record = sound_record();
    // Blocks 1 and 65 of 66, the last one short by 768: 1,280 bytes as before.
    record.walk.stack_span_bytes = 65 * 1024 + 256;
    record.walk.present[0] = 1ULL << 1;
    record.walk.present[1] = 1ULL << 1;
    const auto bytes = record.bytes();
    const auto walk = parse_paused_walk(bytes);
    ASSERT_TRUE(walk);
    const PausedMemory memory(*walk);
    EXPECT_TRUE(memory.first_run().empty());
    EXPECT_TRUE(read_words(memory, kStackVaddr, 1).empty());
    EXPECT_EQ(read_words(memory, kStackVaddr + 1024, 2), (std::vector<std::uint64_t>{0, 1}));
    // Block 2 is absent.
    EXPECT_EQ(read_words(memory, kStackVaddr + 2040, 2), (std::vector<std::uint64_t>{127}));
    EXPECT_EQ(read_words(memory, kStackVaddr + 65 * 1024, 2),
              (std::vector<std::uint64_t>{128, 129}));
    EXPECT_EQ(read_words(memory, kStackVaddr + 65 * 1024 + 248, 2),
              (std::vector<std::uint64_t>{159}));
}

}  // namespace
}  // namespace bobbin::user_walk
