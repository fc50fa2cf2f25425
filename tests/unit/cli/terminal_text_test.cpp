// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/output_of.h"

namespace bobbin::cli {
namespace {

using namespace std::chrono_literals;

TEST(Thousands, PutsACommaBeforeEachThreeDigits) {
    EXPECT_EQ(thousands(0), "0");
    EXPECT_EQ(thousands(999), "999");
    EXPECT_EQ(thousands(1000), "1,000");
    EXPECT_EQ(thousands(47301), "47,301");
    EXPECT_EQ(thousands(1234567), "1,234,567");
    EXPECT_EQ(thousands(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Percent, HasOneDecimal) {
    EXPECT_EQ(percent(0), "0.0 %");
    EXPECT_EQ(percent(0.5), "50.0 %");
    EXPECT_EQ(percent(0.978), "97.8 %");
    EXPECT_EQ(percent(1), "100.0 %");
    EXPECT_EQ(percent(1.5), "150.0 %");
}

TEST(Percent, NeverCallsALittleNoneNorNearlyAllAll) {
    EXPECT_EQ(percent(1e-9), "<0.1 %");
    EXPECT_EQ(percent(0.0004), "<0.1 %");
    EXPECT_EQ(percent(0.001), "0.1 %");
    EXPECT_EQ(percent(0.99999), ">99.9 %");
    EXPECT_EQ(percent(0.999), "99.9 %");
}

TEST(ByteSize, CountsInPowersOfAThousand) {
    EXPECT_EQ(byte_size(0), "0 B");
    EXPECT_EQ(byte_size(999), "999 B");
    EXPECT_EQ(byte_size(1000), "1.0 kB");
    EXPECT_EQ(byte_size(214'300), "214.3 kB");
    EXPECT_EQ(byte_size(999'949), "999.9 kB");
    EXPECT_EQ(byte_size(999'999), "1.0 MB");
    EXPECT_EQ(byte_size(63'000'000), "63.0 MB");
    EXPECT_EQ(byte_size(5'000'000'000'000), "5000.0 GB");
}

TEST(ShortDuration, KeepsTheTwoUnitsThatMatter) {
    EXPECT_EQ(short_duration(0ms), "0ms");
    EXPECT_EQ(short_duration(500ms), "500ms");
    EXPECT_EQ(short_duration(1s), "1.0s");
    EXPECT_EQ(short_duration(12349ms), "12.3s");
    EXPECT_EQ(short_duration(90s), "1m30s");
    EXPECT_EQ(short_duration(3599s), "59m59s");
    EXPECT_EQ(short_duration(2h + 5min), "2h05m");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
    EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
    EXPECT_EQ(printable("a\nb\tc\r"), "a\\x0ab\\x09c\\x0d");
    EXPECT_EQ(printable("\x7f"), "\\x7f");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b31m");  // CSI as one C1 character
}

TEST(Printable, LeavesOrdinaryTextAlone) {
    EXPECT_EQ(printable("libfoo.so.1"), "libfoo.so.1");
    EXPECT_EQ(printable("größe · 日本"), "größe · 日本");
    EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");  // no-break space, the first after C1
    EXPECT_EQ(printable("\xc2"), "\xc2");
}

TEST(ShellQuote, QuotesOnlyWhatAShellWouldChange) {
    EXPECT_EQ(shell_quote("profile.pb.gz"), "profile.pb.gz");
    EXPECT_EQ(shell_quote(""), "''");
    EXPECT_EQ(shell_quote("a b"), "'a b'");
    EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quote("$(reboot)"), "'$(reboot)'");
    EXPECT_EQ(shell_quote(std::vector<std::string>{"sh", "-c", "exit 3"}), "sh -c 'exit 3'");
}

// The shell itself is the oracle.
TEST(ShellQuote, IsReadBackByTheShell) {
    const std::string word = "a'b\"c\\d $HOME `id` *?[x] ~ # & ; | < > ( ) { } ! \t end";
    EXPECT_EQ(test::output_of("printf %s " + shell_quote(word)), word);
}

}  // namespace
}  // namespace bobbin::cli
