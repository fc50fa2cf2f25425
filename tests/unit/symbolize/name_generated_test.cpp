// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_generated.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_directory.h"
#include "symbolize/name_stacks.h"

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;

aggregate::CountedStack stack_of(std::uint32_t pid, std::vector<abi::frame_word> user_frames,
                                 std::uint64_t start_boot_ns = 1) {
    aggregate::CountedStack stack;
    stack.owner.pid = pid;
    stack.owner.process_start_boot_ns = start_boot_ns;
    stack.user_frames = std::move(user_frames);
    stack.count = 1;
    return stack;
}

abi::frame_word generated(std::uint64_t vaddr) { return FRAME_IS_ANONYMOUS | vaddr; }

class NameGeneratedCode : public testing::Test {
protected:
    void put_perf_map(const ProcessId& process, const std::string& text) {
        const std::string path = directory_ / std::to_string(maps_.size());
        test::put_file(path, text);
        maps_[process].perf_map =
            std::make_shared<UniqueFd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    }

    NamedProfile name(std::vector<aggregate::CountedStack> stacks, Names names = Names::kResolve) {
        aggregate::CountedStacks counted;
        counted.stacks = std::move(stacks);
        NameSources sources;
        sources.code_maps_of = [this](const ProcessId& process) {
            const auto found = maps_.find(process);
            return found == maps_.end() ? CodeMaps{} : found->second;
        };
        return name_stacks(counted, executable::Catalog(), {}, names, sources);
    }

    // "name@mapping", leaf first.
    static std::vector<std::string> frames(const NamedProfile& profile, std::size_t stack) {
        std::vector<std::string> texts;
        for (const std::uint32_t index : profile.stacks.at(stack).locations) {
            const Location& location = profile.locations.at(index);
            texts.push_back(profile.functions.at(location.lines.at(0).function).name + "@" +
                            profile.mappings.at(location.mapping).file);
        }
        return texts;
    }

    test::TemporaryDirectory directory_;
    std::map<ProcessId, CodeMaps> maps_;
};

TEST_F(NameGeneratedCode, GivesEachProcessItsOwnNames) {
    put_perf_map({10, 1}, "1000 100 first\n");
    put_perf_map({11, 1}, "1000 100 second\n");
    const NamedProfile profile =
        name({stack_of(10, {generated(0x1010)}), stack_of(11, {generated(0x1010)}),
              stack_of(10, {generated(0x1010) | FRAME_BY_FRAME_POINTER})});
    EXPECT_THAT(frames(profile, 0), ElementsAre("first@[jit]"));
    EXPECT_THAT(frames(profile, 1), ElementsAre("second@[jit]"));
    EXPECT_EQ(profile.stacks[0].locations, profile.stacks[2].locations);
    EXPECT_EQ(profile.locations.size(), 2U);
    ASSERT_EQ(profile.mappings.size(), 2U) << "addresses of one say nothing about the other";
    EXPECT_TRUE(profile.mappings[0].has_functions);
    EXPECT_EQ(profile.mappings[0].start_file_vaddr, 0x1000U);
    EXPECT_EQ(profile.mappings[0].end_file_vaddr, 0x2000U);
}

TEST_F(NameGeneratedCode, TellsProcessesWithOneNumberApart) {
    put_perf_map({10, 1}, "1000 100 first\n");
    put_perf_map({10, 2}, "1000 100 second\n");
    const NamedProfile profile =
        name({stack_of(10, {generated(0x1010)}, 1), stack_of(10, {generated(0x1010)}, 2)});
    EXPECT_THAT(frames(profile, 0), ElementsAre("first@[jit]"));
    EXPECT_THAT(frames(profile, 1), ElementsAre("second@[jit]"));
}

TEST_F(NameGeneratedCode, LeavesWithoutNamesWhatNobodyNames) {
    put_perf_map({10, 1}, "1000 100 first\n");
    const NamedProfile profile = name({stack_of(10, {generated(0x1010), generated(0x2000)}),
                                       stack_of(11, {generated(0x1010), generated(0x2000)}),
                                       stack_of(12, {generated(0x2000)})});
    EXPECT_THAT(frames(profile, 0), ElementsAre("first@[jit]", "[anon]+0x2000@[anon]"));
    EXPECT_THAT(frames(profile, 1), ElementsAre("[anon]+0x1010@[anon]", "[anon]+0x2000@[anon]"));
    EXPECT_EQ(profile.stacks[1].locations.at(1), profile.stacks[2].locations.at(0));
    const Location& unnamed = profile.locations.at(profile.stacks[0].locations.at(1));
    EXPECT_FALSE(unnamed.is_named);
    EXPECT_FALSE(profile.mappings.at(unnamed.mapping).has_functions);
}

TEST_F(NameGeneratedCode, AsksOnlyWhereNamesAreWanted) {
    put_perf_map({10, 1}, "1000 100 first\n");
    const NamedProfile profile = name({stack_of(10, {generated(0x1010)})}, Names::kSkip);
    EXPECT_THAT(frames(profile, 0), ElementsAre("[anon]+0x1010@[anon]"));
}

TEST_F(NameGeneratedCode, DemanglesNames) {
    put_perf_map({10, 1}, "1000 100 _ZN3app6scaledEi\n");
    EXPECT_THAT(frames(name({stack_of(10, {generated(0x1010)})}), 0),
                ElementsAre("app::scaled@[jit]"));
}

// A dump of no record names nothing; the perf map does.
TEST_F(NameGeneratedCode, TakesFromThePerfMapWhatTheJitdumpLacks) {
    put_perf_map({10, 1}, "1000 100 first\n");
    const std::string path = directory_ / "dump";
    std::string header(40, '\0');
    header.replace(0, 12, std::string("DTiJ\x01\0\0\0\x28\0\0\0", 12));
    test::put_file(path, header);
    maps_[{10, 1}].jitdump = std::make_shared<UniqueFd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_THAT(frames(name({stack_of(10, {generated(0x1010)})}), 0), ElementsAre("first@[jit]"));
}

}  // namespace
}  // namespace bobbin::symbolize
