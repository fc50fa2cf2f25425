// SPDX-License-Identifier: Apache-2.0
#include "executable/hash_unwind_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace bobbin::executable {
namespace {

cfi::UnwindRows some_rows() {
    cfi::UnwindRows unwind;
    unwind.base_file_vaddr = 0x1000;
    unwind.rules.resize(2);
    unwind.rules[1].cfa = cfi::CfaKind::kRegisterOffset;
    unwind.rules[1].cfa_offset = 8;
    unwind.rows = {{0, 1}, {16, 0}};
    return unwind;
}

TEST(HashUnwindRows, IsEqualForEqualRowsAndSegments) {
    const std::vector<elf::LoadSegment> segments(2);
    EXPECT_EQ(hash_unwind_rows(some_rows(), segments), hash_unwind_rows(some_rows(), segments));
}

TEST(HashUnwindRows, ChangesWithEveryPartOfATable) {
    const std::vector<elf::LoadSegment> segments(2);
    const UnwindHash before = hash_unwind_rows(some_rows(), segments);
    auto rows = some_rows();
    rows.rows[1].vaddr_from_base = 17;
    EXPECT_NE(hash_unwind_rows(rows, segments), before) << "an address";
    rows = some_rows();
    rows.rules[1].cfa_offset = 16;
    EXPECT_NE(hash_unwind_rows(rows, segments), before) << "a rule";
    rows = some_rows();
    rows.base_file_vaddr = 0x2000;
    EXPECT_NE(hash_unwind_rows(rows, segments), before) << "the base";
    auto moved = segments;
    moved[1].file_offset = 0x1000;
    EXPECT_NE(hash_unwind_rows(some_rows(), moved), before) << "a segment";
}

}  // namespace
}  // namespace bobbin::executable
