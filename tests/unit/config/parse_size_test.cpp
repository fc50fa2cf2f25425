// SPDX-License-Identifier: Apache-2.0
#include "config/parse_size.h"

#include <gtest/gtest.h>

namespace bobbin::config {
namespace {

TEST(ParseSize, TakesBytesAndPowersOf1024) {
    EXPECT_EQ(*parse_size("0"), 0U);
    EXPECT_EQ(*parse_size("1048576"), 1'048'576U);
    EXPECT_EQ(*parse_size("3K"), 3'072U);
    EXPECT_EQ(*parse_size("64M"), 67'108'864U);
    EXPECT_EQ(*parse_size("1G"), 1'073'741'824U);
    EXPECT_EQ(*parse_size("2T"), 2'199'023'255'552U);
}

TEST(ParseSize, TakesUnitsAsPeopleWriteThem) {
    for (const char* const text : {"64m", "64MB", "64mb", "64MiB", "64mib", "65536k", "67108864B"})
        EXPECT_EQ(parse_size(text).value_or(0), 67'108'864U) << text;
}

TEST(ParseSize, RefusesAnythingElse) {
    for (const char* const text : {"", "M", "-1", "+1M", "1.5G", "64 M", "64X", "64Mi", "64iB",
                                   "64MM", "0x10", "64MBx", " 64M"})
        EXPECT_FALSE(parse_size(text).has_value()) << text;
}

// 2^64 = 16777216 T.
TEST(ParseSize, RefusesWhatDoesNotFitIn64Bits) {
    EXPECT_EQ(parse_size("16777215T").value_or(0), 18'446'742'974'197'923'840U);
    for (const char* const text : {"16777216T", "18446744073709551616", "99999999999999999999G"})
        EXPECT_FALSE(parse_size(text).has_value()) << text;
}

}  // namespace
}  // namespace bobbin::config
