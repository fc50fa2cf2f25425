// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdio.h>

#include <array>
#include <cstddef>
#include <string>

namespace bobbin::test {

// What a shell command prints, in the language C; one that fails, fails the test.
inline std::string output_of(const std::string& command) {
    FILE* const pipe = ::popen(("export LC_ALL=C; " + command).c_str(), "r");
    EXPECT_NE(pipe, nullptr) << command;
    if (pipe == nullptr) return {};
    std::string text;
    std::array<char, 4096> part{};
    for (std::size_t got = 1; got > 0;) {
        got = std::fread(part.data(), 1, part.size(), pipe);
        text.append(part.data(), got);
    }
    EXPECT_EQ(::pclose(pipe), 0) << command;
    return text;
}

}  // namespace bobbin::test
