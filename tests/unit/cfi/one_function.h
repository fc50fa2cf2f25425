// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cfi/eh_frame.h"
#include "unit/cfi/section_builder.h"

namespace bobbin::cfi::test {

// Where the functions of these tests stand.
inline constexpr std::uint64_t kStart = 0x401000;
inline constexpr std::uint64_t kLength = 0x100;

using Rows = std::vector<std::pair<std::uint64_t, UnwindRule>>;

// Address and rule of every row. Fails the test if a promise of UnwindRows is broken.
inline Rows rows_of(const EhFrame& frame) {
    const UnwindRows& unwind = frame.unwind;
    Rows rows;
    for (const UnwindRow& row : unwind.rows) {
        EXPECT_LT(row.rule, unwind.rules.size());
        const std::uint64_t file_vaddr = unwind.file_vaddr(row);
        if (!rows.empty()) {
            EXPECT_GT(file_vaddr, rows.back().first);
            EXPECT_FALSE(unwind.rule_of(row) == rows.back().second);
        }
        rows.emplace_back(file_vaddr, unwind.rule_of(row));
    }
    EXPECT_FALSE(unwind.rules.empty() || unwind.rules[0] != UnwindRule{});
    EXPECT_EQ(rows.empty(), frame.fde_count == 0);
    EXPECT_TRUE(rows.empty() || rows.back().second == UnwindRule{});
    return rows;
}

// The rows of [kStart, +kLength) without the "no CFI" row at its end; none if it was refused.
inline Rows run(const Bytes& instructions, const CieFields& cie = {}) {
    SectionBuilder section;
    section.add_fde(section.add_cie(cie), kStart, kLength, instructions);
    const Result<EhFrame> frame = read_eh_frame(section.view(), 0);
    if (!frame) return {};
    Rows rows = rows_of(*frame);
    EXPECT_EQ(rows.back().first, kStart + kLength);
    rows.pop_back();
    return rows;
}

// The rule that `instructions` make where they all stand at the function's start.
inline UnwindRule rule_after(const Bytes& instructions, const CieFields& cie = {}) {
    const Rows rows = run(instructions, cie);
    EXPECT_EQ(rows.size(), 1U);
    return rows.empty() ? UnwindRule{} : rows.front().second;
}

inline bool is_refused(const Bytes& instructions, const CieFields& cie = {}) {
    return run(instructions, cie).empty();
}

inline UnwindRule with_cfa(std::uint8_t cfa_register, std::int32_t offset) {
    UnwindRule rule = rule_at_entry();
    rule.cfa_register = cfa_register;
    rule.cfa_offset = offset;
    return rule;
}

inline UnwindRule with_rbp(RbpKind kind, std::int32_t offset) {
    UnwindRule rule = rule_at_entry();
    rule.rbp = kind;
    rule.rbp_offset = offset;
    return rule;
}

inline UnwindRule with_return_address(ReturnAddressKind kind, std::int32_t offset) {
    UnwindRule rule = rule_at_entry();
    rule.return_address = kind;
    rule.ra_offset = offset;
    return rule;
}

}  // namespace bobbin::cfi::test
