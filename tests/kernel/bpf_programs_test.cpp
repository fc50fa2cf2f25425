// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "sampler/bpf_program.h"
#include "sampler/outcome_counts.h"

namespace bobbin::sampler {
namespace {

constexpr std::uint32_t kVerifierLimit = 1'000'000;

class EveryTickProgram : public testing::TestWithParam<TickProgram> {};

// Loading runs the self-test of the mapping walk too: a load that ends in the program asked for has
// found every mapping of this process where /proc/self/maps has it.
TEST_P(EveryTickProgram, LoadsAndTrustsItsMappingWalk) {
    const auto program = BpfProgram::load({.tick_program = GetParam()});
    ASSERT_TRUE(program.has_value()) << program.error().message();
    EXPECT_EQ(program->tick_program(), GetParam());
    EXPECT_EQ(program->mapping_fallback_reason(), "");
    EXPECT_GE(program->tick_program_fd(), 0);
}

// One kernel's verifier takes what the next refuses: half of its limit is kept free.
TEST_P(EveryTickProgram, StaysFarFromTheVerifiersLimit) {
    const auto program = BpfProgram::load({.tick_program = GetParam()});
    ASSERT_TRUE(program.has_value()) << program.error().message();
    for (const auto& [name, instructions] : program->verified_instructions()) {
        EXPECT_LT(instructions, kVerifierLimit / 2) << name;
        RecordProperty(name, static_cast<int>(instructions));
        std::printf("%s: %u verified instructions\n", name.c_str(), instructions);
    }
}

INSTANTIATE_TEST_SUITE_P(All, EveryTickProgram,
                         testing::Values(TickProgram::kLoop, TickProgram::kTailCalls,
                                         TickProgram::kFindVma),
                         [](const auto& program) { return std::string(name_of(program.param)); });

// The walk is right and /proc/self/maps is wrong here, in one line by one page: to whoever compares
// it is the same. A page below a file's mapping is no mapping's, or another's.
TEST(BpfProgramTest, GoesWithoutTheTreeOfMappingsWhereOneAnswerDiffers) {
    std::ifstream maps("/proc/self/maps");
    std::vector<std::string> lines;
    for (std::string line; std::getline(maps, line);) lines.push_back(line);
    const auto text = std::ranges::find_if(lines, [](const std::string& line) {
        return line.find(" r-xp ") != std::string::npos && line.find('/') != std::string::npos;
    });
    ASSERT_NE(text, lines.end());
    const std::uint64_t start_vaddr = std::stoull(*text, nullptr, 16) - 4096;
    *text = fmt::format("{:x}{}", start_vaddr, text->substr(text->find('-')));
    const std::string path = testing::TempDir() + "bobbin_own_maps";
    std::ofstream(path) << fmt::format("{}\n", fmt::join(lines, "\n"));
    const auto program = BpfProgram::load({.own_maps = path});
    std::remove(path.c_str());
    ASSERT_TRUE(program.has_value()) << program.error().message();
    EXPECT_EQ(program->tick_program(), TickProgram::kFindVma);
    EXPECT_THAT(program->mapping_fallback_reason(),
                testing::HasSubstr(fmt::format("{:x}", start_vaddr)));
}

TEST(BpfProgramTest, ChargesNoBucketBeforeATableNeedsOne) {
    const auto program = BpfProgram::load({});
    ASSERT_TRUE(program.has_value()) << program.error().message();
    EXPECT_GT(program->map_bytes(), 4U << 20) << "the ring of samples alone";
    EXPECT_LT(program->map_bytes(), 32U << 20);
}

TEST(BpfProgramTest, AnnouncesWhatRunsAlready) {
    auto program = BpfProgram::load({});
    ASSERT_TRUE(program.has_value()) << program.error().message();
    const auto announced = program->announce_running();
    ASSERT_TRUE(announced.has_value()) << announced.error().message();
    const auto counters = read_outcome_counts(program->outcome_counts_fd());
    ASSERT_TRUE(counters.has_value()) << counters.error().message();
    EXPECT_EQ(counters->announcements_lost, 0U);
    EXPECT_EQ(counters->ticks, 0U) << "nothing ticks before events are attached";
}

}  // namespace
}  // namespace bobbin::sampler
