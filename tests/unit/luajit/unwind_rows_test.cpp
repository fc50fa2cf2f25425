// SPDX-License-Identifier: Apache-2.0
#include "luajit/unwind_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cfi/merge_rows.h"
#include "unit/luajit/built_vm.h"

namespace bobbin::luajit {
namespace {

using test::Build;
using test::BuiltVm;

std::string describe(const cfi::UnwindRule& rule) {
    return fmt::format("cfa {} of r{} {:+}, rbp {} {:+}, return address {} {:+}",
                       static_cast<int>(rule.cfa), rule.cfa_register, rule.cfa_offset,
                       static_cast<int>(rule.rbp), rule.rbp_offset,
                       static_cast<int>(rule.return_address), rule.ra_offset);
}

std::vector<std::string> describe(const cfi::UnwindRows& rows) {
    std::vector<std::string> lines;
    for (const cfi::UnwindRow& row : rows.rows) {
        lines.push_back(
            fmt::format("{:#x}: {}", rows.file_vaddr(row), describe(rows.rule_of(row))));
    }
    return lines;
}

// The assembler writes down what the code says of itself, push by push.
void expect_exact(Build build) {
    const BuiltVm vm(build);
    const auto found = vm.find();
    ASSERT_EQ(test::problem_of(found), "");
    ASSERT_TRUE(found->has_value());
    build.flags.emplace_back("EXACT_CFI");
    const cfi::UnwindRows exact = BuiltVm(build).rows();
    EXPECT_THAT(describe(make_unwind_rows(**found)), testing::ElementsAreArray(describe(exact)));
}

TEST(MakeUnwindRows, IsExactAtEachInstruction) {
    expect_exact({.is_gc64 = true});
    expect_exact({.is_gc64 = false});
}

TEST(MakeUnwindRows, IsExactWhereSixRegistersAreSaved) {
    expect_exact({.is_gc64 = true, .flags = {"SIX_REGISTERS"}, .changed = {{"cframe_bytes", 96}}});
    expect_exact({.is_gc64 = false, .flags = {"SIX_REGISTERS"}, .changed = {{"cframe_bytes", 96}}});
}

TEST(MakeUnwindRows, IsExactWhereBranchTargetsAreMarked) {
    expect_exact({.is_gc64 = true, .flags = {"ENDBR"}});
}

TEST(MakeUnwindRows, IsExactWithoutFfi) { expect_exact({.is_gc64 = true, .flags = {"NO_FFI"}}); }

TEST(MakeUnwindRows, IsExactForTarantool) {
    expect_exact({.is_gc64 = true,
                  .flags = {"TARANTOOL"},
                  .changed = {{"frame_space", 0x38}, {"cframe_bytes", 96}, {"exit_vm_state", ~5}}});
}

// The file's own row is behind each of them, and no address is left to it.
TEST(MakeUnwindRows, CoversWhatTheFileSays) {
    const BuiltVm vm({});
    const cfi::UnwindRows made = make_unwind_rows(**vm.find());
    EXPECT_EQ(describe(cfi::merge_rows(made, vm.rows())), describe(made));
    const auto no_cfi = [&](const cfi::UnwindRow& row) {
        return row.rule == cfi::UnwindRows::kNoCfiRule;
    };
    EXPECT_EQ(std::ranges::count_if(made.rows, no_cfi), 1);
    EXPECT_TRUE(no_cfi(made.rows.back()));
}

}  // namespace
}  // namespace bobbin::luajit
