// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "cfi/eh_frame.h"
#include "golden/cfi_libdw_rules.h"
#include "golden/cfi_system_binaries.h"

namespace bobbin::test {
namespace {

constexpr std::size_t kBinaries = 60;
// libdw runs a function's instructions anew for each question: 1 µs each, some 8 million in all.
constexpr std::uint64_t kMaxEhFrameBytes = 24U << 20;

struct Tally {
    std::uint64_t rows = 0;
    std::uint64_t checks = 0;
    std::uint64_t rbx_checks = 0;  // of these, where the file says where rbx is: ld.so
    std::uint64_t mismatches = 0;
    std::uint64_t refused_by_libdw = 0;
};

void check_address(const LibdwRules& libdw, std::uint64_t file_vaddr, const cfi::UnwindRule& ours,
                   const std::string& path, Tally& tally) {
    constexpr std::uint64_t kShown = 5;
    LibdwAnswer theirs = libdw.rule_at(file_vaddr);
    if (theirs.refused) {
        ++tally.refused_by_libdw;
        return;
    }
    ++tally.checks;
    if (ours.rbx_words != 0) {  // most files do not say it
        ++tally.rbx_checks;
        theirs.rule.rbx_words = theirs.rbx_words;
    }
    // Said by no instruction, but by what a CFA by rcx is for.
    theirs.rule.enters_landing_pad = ours.enters_landing_pad;
    if (theirs.rule == ours) return;
    if (++tally.mismatches > kShown) return;
    ADD_FAILURE() << fmt::format("{} at {:#x}\n  ours:  {}\n  libdw: {}", path, file_vaddr,
                                 to_text(ours), to_text(theirs.rule));
}

void check_binary(const std::string& path, Tally& tally) {
    const LibdwRules libdw(path);
    ASSERT_TRUE(libdw.is_open()) << path;
    const cfi::EhFrame frame = read_rows(path);
    EXPECT_EQ(frame.fde_refused_count, 0U) << path;
    EXPECT_EQ(frame.stopped, "") << path;
    const cfi::UnwindRows& unwind = frame.unwind;
    for (std::size_t i = 0; i < unwind.rows.size(); ++i) {
        const cfi::UnwindRule& rule = unwind.rule_of(unwind.rows[i]);
        check_address(libdw, unwind.file_vaddr(unwind.rows[i]), rule, path, tally);
        if (i + 1 == unwind.rows.size()) break;
        check_address(libdw, unwind.file_vaddr(unwind.rows[i + 1]) - 1, rule, path, tally);
    }
    tally.rows += unwind.rows.size();
}

TEST(ReadEhFrame, AgreesWithLibdwAtTheFirstAndLastByteOfEveryRowOfSixtyBinaries) {
    const std::vector<SystemBinary> binaries = find_system_binaries(kBinaries, kMaxEhFrameBytes);
    ASSERT_GE(binaries.size(), kBinaries);
    Tally tally;
    for (const SystemBinary& binary : binaries) check_binary(binary.path, tally);
    EXPECT_EQ(tally.mismatches, 0U);
    EXPECT_GT(tally.rbx_checks, 1000U);
    // Tens among millions; the readelf test covers those.
    EXPECT_LT(tally.refused_by_libdw * 1000, tally.checks);
    fmt::print("{} binaries, {} rows, {} checks, {} mismatches, {} addresses refused by libdw\n",
               binaries.size(), tally.rows, tally.checks, tally.mismatches, tally.refused_by_libdw);
}

}  // namespace
}  // namespace bobbin::test
