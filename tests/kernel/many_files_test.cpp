// SPDX-License-Identifier: Apache-2.0
// More distinct programs than there are executable ids.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/record_run.h"

namespace bobbin::test {
namespace {

constexpr std::uint64_t kIds = 1000;
constexpr std::uint64_t kPrograms = 2500;

// "child-17" of a frame's file; empty: another file.
std::string program_of(const std::string& file) {
    static const std::regex kName("child-[0-9]+");
    std::smatch found;
    return std::regex_search(file, found, kName) ? found.str() : std::string();
}

// Each program is a file of its own, deleted as soon as it runs, for 3 ms of CPU time; it calls
// itself by its file's name. Whatever shares a place of the kernel's maps: a sample shows the file
// of its own process and no other's.
TEST(ManyFiles, NeitherRunOutOfIdsNorMixTheirNames) {
    const TemporaryDirectory directory;
    std::vector<std::string> arguments = {"env",
                                          "BOBBIN_LOG=debug",
                                          "BOBBIN_EXECUTABLE_IDS=" + std::to_string(kIds),
                                          program_path(),
                                          "record",
                                          "-F",
                                          "997",
                                          "-o",
                                          (directory / "profile.pb.gz").string(),
                                          "--",
                                          fixture_path("opener_children"),
                                          directory.path().string(),
                                          std::to_string(kPrograms),
                                          "3000"};
    const RecordedRun run = recorded_by(arguments, directory / "profile.pb.gz");
    const auto ends = accounting_of(run.profile);
    EXPECT_FALSE(ends.contains("stack_files_full"))
        << ends.at("stack_files_full") << run.process.standard_error;
    std::set<std::string> programs;
    std::uint64_t samples = 0;
    for (const Stack& stack : run.profile.stacks) {
        for (const Frame& frame : stack.frames) {
            const std::string program = program_of(frame.module);
            if (program.empty()) continue;
            programs.insert(program);
            samples += stack.count;
            EXPECT_EQ(program, stack.label("comm")) << frame.function;
        }
    }
    EXPECT_GE(programs.size(), 2 * kIds) << "of " << kPrograms;
    EXPECT_GE(samples, kPrograms);
}

}  // namespace
}  // namespace bobbin::test
