// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace bobbin::test {

// For INSTANTIATE_TEST_SUITE_P: "known_chain.gcc.pie" -> "known_chain_gcc_pie".
inline std::string fixture_test_name(const testing::TestParamInfo<std::string>& fixture) {
    std::string name = fixture.param;
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

}  // namespace bobbin::test
