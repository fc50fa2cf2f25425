// SPDX-License-Identifier: Apache-2.0
// The known chain by other levels of optimization and by optimization across the whole program.
#include <gtest/gtest.h>

#include <string>

#include "kernel/sampled_fixture.h"
#include "support/fixture_test_name.h"

namespace bobbin::test {
namespace {

class KnownChainBuiltWith : public testing::TestWithParam<std::string> {};

TEST_P(KnownChainBuiltWith, IsFoundDownToStart) {
    const ProfileText profile = sample_fixture(GetParam(), "1.5");
    expect_whole_stacks(profile, GetParam(), leaf_is_in({GetParam()}),
                        is_the_chain_above(below_main()));
}

INSTANTIATE_TEST_SUITE_P(Options, KnownChainBuiltWith,
                         testing::Values("known_chain.gcc.O3", "known_chain.gcc.Os",
                                         "known_chain.gcc.lto", "known_chain.clang.O3",
                                         "known_chain.clang.Os", "known_chain.clang.lto"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test
