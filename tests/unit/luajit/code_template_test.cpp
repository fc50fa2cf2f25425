// SPDX-License-Identifier: Apache-2.0
#include "luajit/code_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace bobbin::luajit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr BuildKind kGc64{.is_gc64 = true, .saves_six_registers = false};

std::vector<CodeMatch> find(std::span<const Instruction> instructions,
                            std::vector<std::uint8_t> code, BuildKind kind = kGc64) {
    const CodeMatcher matcher({"code", instructions}, kind);
    return matcher.find(std::as_bytes(std::span(code)), 10);
}

TEST(CodeMatcher, GivesSignedValuesOfOneByteAndOfFour) {
    constexpr std::array kCode{Instruction{"48 8b 5d near:1"}, Instruction{"41 c7 far:4 .. 01"}};
    const auto found = find(kCode, {0x90, 0x48, 0x8b, 0x5d, 0xf8, 0x41, 0xc7, 0x38, 0xf1, 0xff,
                                    0xff, 0x77, 0x01, 0x90});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].begin, 1U);
    EXPECT_EQ(found[0].end, 13U);
    EXPECT_THAT(found[0].values, ElementsAre(Pair("near", -8), Pair("far", -0xec8)));
}

TEST(CodeMatcher, GivesTheAddressOfAnInstructionAndOfWhatFollows) {
    constexpr std::array kCode{Instruction{"55"}, Instruction{"@second 48 89"},
                               Instruction{"@end"}};
    const auto found = find(kCode, {0x55, 0x48, 0x89});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].places, ElementsAre(Pair("second", 1U), Pair("end", 3U)));
}

TEST(CodeMatcher, TakesTheColumnOfTheBuild) {
    constexpr std::array kCode{Instruction{"48 89 c1", "89 c1"}, Instruction{"-", "c3"}};
    const std::vector<std::uint8_t> code{0x48, 0x89, 0xc1, 0xc3};
    const auto with_64 = find(kCode, code);
    const auto with_32 = find(kCode, code, {.is_gc64 = false, .saves_six_registers = false});
    ASSERT_THAT(with_64, SizeIs(1));
    ASSERT_THAT(with_32, SizeIs(1));
    EXPECT_EQ(with_64[0].begin, 0U);
    EXPECT_EQ(with_64[0].end, 3U);
    EXPECT_EQ(with_32[0].begin, 1U);
    EXPECT_EQ(with_32[0].end, 4U);
}

TEST(CodeMatcher, TakesWhatMayBeMissingWhereItStands) {
    constexpr std::array kCode{Instruction{"? f3 0f"}, Instruction{"55"}, Instruction{"? 90"},
                               Instruction{"c3"}};
    EXPECT_THAT(find(kCode, {0xf3, 0x0f, 0x55, 0x90, 0xc3}), SizeIs(1));
    EXPECT_THAT(find(kCode, {0x55, 0xc3}), SizeIs(1));
    EXPECT_THAT(find(kCode, {0x55, 0x90, 0x90, 0xc3}), IsEmpty());
}

TEST(CodeMatcher, KnowsInstructionsOfBuildsThatSaveSixRegisters) {
    constexpr std::array kCode{Instruction{"41 56"}, Instruction{"six 41 55"}, Instruction{"c3"}};
    const BuildKind six{.is_gc64 = true, .saves_six_registers = true};
    EXPECT_THAT(find(kCode, {0x41, 0x56, 0xc3}), SizeIs(1));
    EXPECT_THAT(find(kCode, {0x41, 0x56, 0xc3}, six), IsEmpty());
    EXPECT_THAT(find(kCode, {0x41, 0x56, 0x41, 0x55, 0xc3}, six), SizeIs(1));
}

TEST(CodeMatcher, FindsAllThatStandApart) {
    constexpr std::array kCode{Instruction{"55 55"}};
    const auto found = find(kCode, {0x55, 0x55, 0x55, 0x90, 0x55, 0x55});
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].begin, 0U);
    EXPECT_EQ(found[1].begin, 4U);
}

TEST(CodeMatcher, FindsNothingInCodeThatIsTooShort) {
    constexpr std::array kCode{Instruction{"48 value:4"}};
    EXPECT_THAT(find(kCode, {}), IsEmpty());
    EXPECT_THAT(find(kCode, {0x48}), IsEmpty());
    EXPECT_THAT(find(kCode, {0x48, 1, 2, 3}), IsEmpty());
    EXPECT_THAT(find(kCode, {0x48, 1, 2, 3, 4}), SizeIs(1));
}

}  // namespace
}  // namespace bobbin::luajit
