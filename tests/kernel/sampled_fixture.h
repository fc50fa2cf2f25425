// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "support/expected_stacks.h"
#include "support/record_run.h"

namespace bobbin::test {

inline constexpr double kRequiredShare = 0.99;
// So that one bad sample is less than the 1 % allowed.
inline constexpr std::uint64_t kFewestSamples = 300;
inline constexpr std::uint64_t kFewestOfMany = 100;  // of one scenario among several in a run

// A fixture at work under `bobbin record` at 499 Hz. 3 s of CPU time are about 1,500 samples; at
// most a fifth may come before the tables of its files are there.
RecordedRun record_fixture(const std::string& fixture, const std::string& cpu_seconds = "3");
ProfileText sample_fixture(const std::string& fixture, const std::string& cpu_seconds = "3");

using StackRule = std::function<bool(const Stack&)>;
bool every_stack(const Stack& stack);
StackRule leaf_is_in(std::vector<std::string> modules);

// Files in /tmp by which the sampled processes named their code: some leave them behind.
void remove_maps_of(const ProfileText& profile);
StackRule leaf_is(std::string function);
StackRule is_exactly(ExpectedStack expected);
StackRule any_of_these(std::vector<ExpectedStack> allowed);
bool contains(const Stack& stack, const std::string& function);

// With no link of the chain innermost, the caller of chain_01 has to be.
StackRule is_the_chain_above(const ExpectedStack& outer);

// Cuts off the frames at the beginning that belong to `module`; false if there are none.
bool cut_leaf_frames_in(std::vector<Frame>& frames, const std::string& module);

// Of the samples for which `applies`, at least `fewest`, 99 % are exact; as many wrong ones as the
// recording counts before the tables were there are left out. `what` names the share
// among the test's properties (--gtest_output=xml), where examples of the others are, too.
void expect_exact(const std::string& what, const std::vector<Stack>& stacks,
                  const StackRule& applies, const StackRule& is_exact,
                  std::uint64_t fewest = kFewestSamples);

// The same, and 99 % of all the fixture's samples reach the bottom.
void expect_whole_stacks(const ProfileText& profile, const std::string& fixture,
                         const StackRule& applies, const StackRule& is_exact);

// What the summary of a run says about the stacks that ended in this way, 0 to 1.
double share_ended(const RecordedRun& run, abi::walk_end end);

// The samples with `function` innermost, at least `fewest`, all say that they ended in this way,
// and hardly any others do.
void expect_ended(const RecordedRun& run, const std::string& function, abi::walk_end end,
                  std::uint64_t fewest = kFewestOfMany);

}  // namespace bobbin::test
