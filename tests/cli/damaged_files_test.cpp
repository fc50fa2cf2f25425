// SPDX-License-Identifier: Apache-2.0
// A program whose unwind information is broken, or made to break readers, costs its own stacks
// only.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "support/damaged_elf.h"
#include "support/expected_stacks.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;

constexpr char kDamaged[] = "damaged";
constexpr char kHealthy[] = "known_chain.clang.pie";

// Both at once under one shell; the damaged one is named in the summary, the other is as ever.
void expect_only_its_own_stacks_lost(const fs::path& damaged, const TemporaryDirectory& directory) {
    const std::string both = damaged.string() + " 2 & " + fixture_path(kHealthy) + " 2; wait";
    const RecordedRun run = record(directory, {"-F", "499"}, {"sh", "-c", both});
    EXPECT_NE(run.process.standard_error.find(damaged.string()), std::string::npos)
        << run.process.standard_error;
    EXPECT_GE(run.profile.sample_count_of(kDamaged), 300U);

    const Verdict healthy = judge(
        run.profile.stacks_of(comm_of(kHealthy)),
        [](const Stack& stack) {
            const std::vector<Frame> frames = stack.user_frames();
            return !frames.empty() && chain_link_of(frames.front()) != 0;
        },
        [](const Stack& stack) {
            const std::vector<Frame> frames = stack.user_frames();
            return matches(frames, chain_from(chain_link_of(frames.front())) + below_main());
        });
    EXPECT_GE(healthy.judged, 300U);
    EXPECT_GE(healthy.share_right(), 0.99) << healthy.examples();
}

TEST(AbsurdSizeOfEhFrame, CostsItsOwnStacksOnly) {
    const TemporaryDirectory directory;
    copy_with_absurd_eh_frame_size(fixture_path("known_chain.gcc.pie"), directory / kDamaged);
    expect_only_its_own_stacks_lost(directory / kDamaged, directory);
}

TEST(CyclicCies, CostTheirOwnStacksOnly) {
    const TemporaryDirectory directory;
    copy_with_cyclic_cies(fixture_path("known_chain.gcc.pie"), directory / kDamaged);
    expect_only_its_own_stacks_lost(directory / kDamaged, directory);
}

}  // namespace
}  // namespace bobbin::test
