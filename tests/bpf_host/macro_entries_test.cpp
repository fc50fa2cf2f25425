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
    return static_cast<std::uint32_t>(file_offset & 0xffff) << 16 | code;
}

std::uint32_t directory_word(std::size_t first, std::size_t count) {
    return static_cast<std::uint32_t>(first << 8 | count);
}

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
                                   .unused = {},
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

    // Of file offsets 0 to 0x12000: granules of 64 KiB, so a directory of two words.
    void publish_table(std::uint32_t first_word, std::span<const std::uint32_t> words) {
        publish_words(kProgramInode,
                      {.base_file_offset = 0,
                       .first_word = first_word,
                       .granule_count = 2,
                       .granule_shift = 16,
                       .unused = 0},
                      words);
    }
};

TEST_F(MacroEntries, GiveTheCodeOfTheDistanceFromTheirOffset) {
    publish_table(
        48, std::array{directory_word(3, 2), directory_word(5, 0), entry(0, abi::CODE_NO_CFI),
                       entry(0x3000, abi::CODE_MACRO | kMacro), entry(kBottomOffset, kBottomCode)});
    for (std::uint64_t distance = 0; distance < 300; ++distance)
        expect_picked(0x3000 + distance, picked_by_hand(kStarts, distance));
}

TEST_F(MacroEntries, MayUseFewerThanEightStarts) {
    const std::array<std::uint8_t, 2> starts{1, 126};
    set_macro(kMacro, macro_with(starts));
    publish_table(
        48, std::array{directory_word(3, 2), directory_word(5, 0), entry(0, abi::CODE_NO_CFI),
                       entry(0x3000, abi::CODE_MACRO | kMacro), entry(kBottomOffset, kBottomCode)});
    for (const std::uint64_t distance : {0, 1, 125, 126, 127, 128, 1000})
        expect_picked(0x3000 + distance, picked_by_hand(starts, distance));
}

// The macro begins 0x10 bytes below a page of 64 KiB: behind it, its entry is the predecessor of an
// empty group, and the distance crosses zero.
TEST_F(MacroEntries, ReachIntoTheNextPage) {
    publish_table(
        48, std::array{directory_word(3, 2), directory_word(5, 0), entry(0, abi::CODE_NO_CFI),
                       entry(kBottomOffset, kBottomCode), entry(0xfff0, abi::CODE_MACRO | kMacro)});
    for (std::uint64_t distance = 0; distance < 200; ++distance)
        expect_picked(0xfff0 + distance, picked_by_hand(kStarts, distance));
}

// The directory is the end of one bucket, the group and its predecessor the start of the next.
TEST_F(MacroEntries, LieInAnotherBucketThanTheDirectory) {
    std::vector<std::uint32_t> words(16);
    words[0] = directory_word(17, 2);
    words[1] = directory_word(19, 0);
    words.insert(words.end(),
                 {entry(0, abi::CODE_NO_CFI), entry(0x3000, abi::CODE_MACRO | kMacro),
                  entry(kBottomOffset, kBottomCode), entry(0x10000, abi::CODE_NO_CFI)});
    publish_table(abi::BUCKET_WORDS - 16, words);
    expect_picked(0x3004, 2);
}

// An empty group has only a predecessor, here the last word of a bucket.
TEST_F(MacroEntries, OfAnEmptyGroupAtABucketsStartAreFoundBeforeIt) {
    std::vector<std::uint32_t> words(16);
    words[0] = directory_word(13, 2);
    words[1] = directory_word(16, 0);
    words[12] = entry(0, abi::CODE_NO_CFI);
    words[13] = entry(0x3000, abi::CODE_NO_CFI);
    words[14] = entry(kBottomOffset, kBottomCode);
    words[15] = entry(0xfff0, abi::CODE_MACRO | kMacro);
    words[0] = directory_word(13, 3);
    publish_table(abi::BUCKET_WORDS - 16, words);
    expect_picked(0x10002, picked_by_hand(kStarts, 0x12));
}

}  // namespace
}  // namespace bobbin
