// SPDX-License-Identifier: Apache-2.0
#include "sampler/targets.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>

namespace bobbin::sampler {
namespace {

// As bpf/choose_targets.bpf.h compares: `comm` is followed by zeros.
bool matches(const std::string& pattern_text, const std::string& comm) {
    const CommPattern pattern = parse_comm_pattern(pattern_text);
    std::array<char, abi::COMM_BYTES> bytes{};
    comm.copy(bytes.data(), abi::COMM_BYTES - 1);
    const auto words = std::bit_cast<std::array<std::uint64_t, abi::COMM_WORDS>>(bytes);
    return (words[0] & pattern.mask[0]) == pattern.bits[0] &&
           (words[1] & pattern.mask[1]) == pattern.bits[1];
}

TEST(CommPattern, IsTheWholeName) {
    EXPECT_TRUE(matches("nginx", "nginx"));
    EXPECT_FALSE(matches("nginx", "nginx2"));
    EXPECT_FALSE(matches("nginx", "ngin"));
    EXPECT_FALSE(matches("nginx", ""));
    EXPECT_TRUE(matches("exactly_fifteen", "exactly_fifteen"));
    EXPECT_FALSE(matches("exactly_fifteen", "exactly_fiftee"));
    EXPECT_FALSE(matches("9_letters", "9_lettersX"));
}

// The kernel shows the first 15 bytes of a program's name.
TEST(CommPattern, OfALongerNameIsItsFirst15Bytes) {
    EXPECT_TRUE(matches("sixteen_letters_", "sixteen_letters"));
    EXPECT_TRUE(matches("systemd-journald", "systemd-journal"));
}

TEST(CommPattern, WithAStarIsTheBeginning) {
    EXPECT_TRUE(matches("ng*", "nginx"));
    EXPECT_TRUE(matches("nginx*", "nginx"));
    EXPECT_TRUE(matches("kworker/*", "kworker/0:1"));
    EXPECT_FALSE(matches("kworker/*", "kworker"));
    EXPECT_FALSE(matches("kworker/1*", "kworker/0:1"));
    EXPECT_TRUE(matches("fourteen_bytes*", "fourteen_bytesX"));
    EXPECT_TRUE(matches("longer_than_the_kernel_shows*", "longer_than_the"));
    EXPECT_FALSE(matches("a*b", "a_b"));
}

TEST(Targets, AreEverybodyWhenNobodyIsNamed) {
    EXPECT_TRUE(Targets{}.everybody());
    EXPECT_EQ(Targets{}.kinds(), 0U);
    const Targets some{.threads = {7}, .comms = {"a"}};
    EXPECT_FALSE(some.everybody());
    EXPECT_EQ(some.kinds(), std::uint32_t{abi::TARGET_THREADS | abi::TARGET_COMMS});
}

}  // namespace
}  // namespace bobbin::sampler
