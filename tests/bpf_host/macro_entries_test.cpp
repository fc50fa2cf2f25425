// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "host_process.h"

namespace bobbin {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kMacro = 5;
constexpr std::uint32_t kBottom = 1;  // in special_rules
constexpr std::uint32_t kBottomCode = abi::CODE_SPECIAL | kBottom;
constexpr std::uint64_t kBottomOffset = 0xa000;

std::uint32_t entry(std::uint64_t file_offset, std::uint32_t code) {
    return static_cast<std::uint32_t>(file_offset & abi::ENTRY_OFFSET_MASK)
               << abi::ENTRY_OFFSET_SHIFT |
           code;
}

std::uint32_t link(std::uint64_t file_offset, std::uint32_t second_line) {
    return entry(file_offset, abi::ENTRY_IS_LINK | second_line);
}

using Line = std::vector<std::uint32_t>;

// codes[k] of the macro says cfa = rsp + 8 * (k + 1), and word k of the stack is an address that
// tells k: the second frame says which code was picked.
class MacroEntries : public HostProcess {
protected:
    static constexpr std::array<std::uint8_t, 8> kStarts{1, 4, 6, 6, 10, 12, 125, 126};

    void SetUp() override {
        HostProcess::SetUp();
        set_special_rule(kBottom, {.cfa = abi::SPECIAL_CFA_RSP,
                                   .cfa_register = 0,
                                   .rbp = 0,
                                   .return_address = abi::SPECIAL_RA_UNDEFINED,
                                   .ra_register = 0,
                                   .changes_stack = 0,
                                   .enters_landing_pad = 0,
                                   .cfa_offset = 0,
                                   .cfa_addend = 0,
                                   .rbp_offset = 0,
                                   .ra_offset = 0});
        set_macro(kMacro, macro_with(kStarts));
        std::vector<std::uint64_t> words;
        for (std::uint64_t k = 0; k < 9; ++k) words.push_back(kProgramStart + caller(k) + 1);
        put_stack(kStack, words);
    }

    static abi::macro macro_with(std::span<const std::uint8_t> starts) {
        abi::macro macro{};
        for (unsigned k = 0; k < 8; ++k) {
            const std::uint64_t start =
                k < starts.size() ? starts[k] : std::uint64_t{abi::MACRO_NO_START};
            macro.starts |= start << (8 * k);
        }
        for (std::uint16_t k = 0; k < 9; ++k) macro.codes[k] = static_cast<std::uint16_t>(k + 1);
        return macro;
    }

    // From the start of the text, in the range of the rule at kBottomOffset.
    static std::uint64_t caller(std::uint64_t k) {
        return kBottomOffset - kTextFileOffset + 16 * (k + 1);
    }

    static std::uint64_t picked_by_hand(std::span<const std::uint8_t> starts,
                                        std::uint64_t distance) {
        return static_cast<std::uint64_t>(
            std::count_if(starts.begin(), starts.end(), [&](std::uint8_t start) {
                return start <= std::min<std::uint64_t>(distance, abi::MACRO_MAX_DISTANCE);
            }));
    }

    void expect_picked(std::uint64_t file_offset, std::uint64_t k) {
        const std::uint64_t at = file_offset - kTextFileOffset;
        const auto sample = tick({.rip = kProgramStart + at, .rsp = kStack, .rbp = 0, .cs = 0});
        EXPECT_THAT(frames(sample.parsed.user_frames),
                    ElementsAre(in_program(at), in_program(caller(k))))
            << "file offset " << file_offset;
    }

    // Of file offsets 0 to 0x14000, in granules of 16 KiB; behind five lines for them second ones.
    void publish_table(std::uint32_t first_word, std::vector<Line> lines) {
        std::vector<std::uint32_t> words;
        for (Line& line : lines) {
            line.resize(abi::LINE_WORDS, line.back());
            words.insert(words.end(), line.begin(), line.end());
        }
        publish_words(kProgramInode,
                      {.base_file_offset = 0,
                       .first_word = first_word,
                       .granule_count = 5,
                       .granule_shift = 14,
                       .is_ready = 1},
                      words);
    }

    static Line nothing() { return {entry(0, abi::CODE_NO_CFI)}; }
    static Line bottom_line() { return {entry(0, kBottomCode)}; }
    static Line start_of_bottom() {
        return {entry(0, abi::CODE_NO_CFI), entry(kBottomOffset, kBottomCode)};
    }
    static Line macro_at_0x3000() {
        return {entry(0, abi::CODE_NO_CFI), entry(0x3000, abi::CODE_MACRO | kMacro)};
    }
};

TEST_F(MacroEntries, GiveTheCodeOfTheDistanceFromTheirOffset) {
    publish_table(48,
                  {macro_at_0x3000(), nothing(), start_of_bottom(), bottom_line(), bottom_line()});
    for (std::uint64_t distance = 0; distance < 300; ++distance)
        expect_picked(0x3000 + distance, picked_by_hand(kStarts, distance));
}

TEST_F(MacroEntries, MayUseFewerThanEightStarts) {
    const std::array<std::uint8_t, 2> starts{1, 126};
    set_macro(kMacro, macro_with(starts));
    publish_table(48,
                  {macro_at_0x3000(), nothing(), start_of_bottom(), bottom_line(), bottom_line()});
    for (const std::uint64_t distance : {0, 1, 125, 126, 127, 128, 1000})
        expect_picked(0x3000 + distance, picked_by_hand(starts, distance));
}

// The macro begins 0x10 bytes below a granule's end, where the low 15 bits become 0: behind it, the
// next line has its entry as word 0, and the distance crosses zero.
TEST_F(MacroEntries, ReachIntoTheNextGranule) {
    const std::uint32_t macro = entry(0xfff0, abi::CODE_MACRO | kMacro);
    publish_table(
        48, {nothing(), nothing(), start_of_bottom(), {entry(0, kBottomCode), macro}, {macro}});
    for (std::uint64_t distance = 0; distance < 200; ++distance)
        expect_picked(0xfff0 + distance, picked_by_hand(kStarts, distance));
}

// 0x2fe0 to 0x30ff are in the second line that the link names, the other one says something else.
TEST_F(MacroEntries, AreFoundInSecondLines) {
    const Line first = {entry(0, abi::CODE_NO_CFI), link(0x2fe0, 1), entry(0x3100, kBottomCode)};
    const Line second = {entry(0x2fe0, kBottomCode), entry(0x3000, abi::CODE_MACRO | kMacro)};
    publish_table(
        48, {first, nothing(), start_of_bottom(), bottom_line(), bottom_line(), nothing(), second});
    for (const std::uint64_t distance : {0, 1, 4, 11, 0xff})
        expect_picked(0x3000 + distance, picked_by_hand(kStarts, distance));
}

// The first lines are the end of one bucket, the second one the start of the next.
TEST_F(MacroEntries, LieInAnotherBucketThanTheirLink) {
    const Line first = {entry(0, abi::CODE_NO_CFI), link(0x3000, 0)};
    const Line second = {entry(0x3000, abi::CODE_MACRO | kMacro)};
    publish_table(abi::BUCKET_WORDS - 5 * abi::LINE_WORDS,
                  {first, nothing(), start_of_bottom(), bottom_line(), bottom_line(), second});
    expect_picked(0x3004, 2);
}

// The first granule's line is the last one of a bucket.
TEST_F(MacroEntries, LieOnBothSidesOfABucketsEnd) {
    const std::uint32_t macro = entry(0xfff0, abi::CODE_MACRO | kMacro);
    publish_table(
        abi::BUCKET_WORDS - abi::LINE_WORDS,
        {macro_at_0x3000(), nothing(), start_of_bottom(), {entry(0, kBottomCode), macro}, {macro}});
    expect_picked(0x3004, 2);
    expect_picked(0x10002, picked_by_hand(kStarts, 0x12));
}

}  // namespace
}  // namespace bobbin
