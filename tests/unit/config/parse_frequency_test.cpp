// SPDX-License-Identifier: Apache-2.0
#include "config/parse_frequency.h"

#include <gtest/gtest.h>

namespace bobbin::config {
namespace {

TEST(ParseFrequency, TakesOneToTenThousandHertz) {
    EXPECT_EQ(parse_frequency("1", {}).value(), 1U);
    EXPECT_EQ(parse_frequency("99", {}).value(), 99U);
    EXPECT_EQ(parse_frequency("10000", {}).value(), 10000U);
}

TEST(ParseFrequency, RefusesEverythingElse) {
    for (const char* text : {"", "0", "10001", "-1", "+1", "99hz", "99 ", " 99", "0x63", "Max",
                             "9.9", "4294967395", "99999999999999999999"}) {
        EXPECT_FALSE(parse_frequency(text, 100000)) << "'" << text << "'";
    }
}

TEST(ParseFrequency, TakesTheKernelsLimitForMax) {
    EXPECT_EQ(parse_frequency("max", 4000).value(), 4000U);
    EXPECT_EQ(parse_frequency("max", 100000).value(), 10000U);
    EXPECT_EQ(parse_frequency("max", {}).value(), 10000U);
    EXPECT_EQ(parse_frequency("max", 0).value(), 1U);
}

// The limit of the kernel is the caller's to explain.
TEST(ParseFrequency, DoesNotCompareANumberWithTheKernelsLimit) {
    EXPECT_EQ(parse_frequency("500", 100).value(), 500U);
}

}  // namespace
}  // namespace bobbin::config
