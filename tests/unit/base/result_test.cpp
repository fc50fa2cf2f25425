// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

namespace bobbin {
namespace {

Result<int> half_of(int number) {
    if (number % 2 != 0) return fail("{} is odd", number);
    return number / 2;
}

Result<> check_even(int number) {
    BOBBIN_TRY([[maybe_unused]] const int half, half_of(number));
    return {};
}

Result<std::string> quarter_of(int number) {
    BOBBIN_CHECK(check_even(number));
    BOBBIN_TRY(const int half, half_of(number));
    BOBBIN_TRY(const int quarter, half_of(half));
    return std::to_string(quarter);
}

TEST(Result, CarriesValuesThrough) { EXPECT_EQ(quarter_of(12).value(), "3"); }

TEST(Result, CarriesTheFirstErrorThroughEveryMacro) {
    EXPECT_EQ(quarter_of(7).error().message(), "7 is odd");
    EXPECT_EQ(quarter_of(6).error().message(), "3 is odd");
}

TEST(Result, MovesWhatCannotBeCopied) {
    const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
    const auto use = [&]() -> Result<int> {
        BOBBIN_TRY(const std::unique_ptr<int> number, make());
        return *number;
    };
    EXPECT_EQ(use().value(), 7);
}

TEST(Result, PutsContextBeforeTheReason) {
    const auto open = []() -> Result<> { return fail_with(EACCES, "open {}", "/x"); };
    const auto read = [&]() -> Result<> {
        auto opened = open();
        return fail(std::move(opened).error()).context("read {}", "the file");
    };
    EXPECT_EQ(read().error().message(), "read the file: open /x: Permission denied");
}

TEST(Result, KeepsTheCodeOfASystemCallWhateverItsSign) {
    for (const int code : {ENOENT, -ENOENT}) {
        const Result<> failed = fail_with(code, "stat");
        EXPECT_EQ(failed.error().code(), std::errc::no_such_file_or_directory);
    }
    const Result<> failed = fail("no system call");
    EXPECT_FALSE(failed.error().code());
}

}  // namespace
}  // namespace bobbin
