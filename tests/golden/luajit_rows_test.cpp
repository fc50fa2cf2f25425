// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "golden/luajit_program.h"
#include "golden/luajit_shadow_stack.h"
#include "luajit/unwind_rows.h"

namespace bobbin::test {
namespace {

// Goes in and out of the VM by all its ways: calls from C, protected ones, coroutines, callbacks,
// errors, steps of the GC, and traces, which start at the second round of a loop.
constexpr const char* kScript = R"lua(
local ffi = require("ffi")
local function remainder(a, b) return a % b + math.floor(a) - math.ceil(b) end
local sum = 0
for i = 1, 12 do sum = sum + remainder(i * 1.5, 7) end
for i = 1, 12 do if i % 3 == 0 then sum = sum + i else sum = sum - 1 end end
jit.off()
for i = 1, 3 do sum = sum + remainder(i * 2.5, 3) end
table.sort({3, 1, 2}, function(a, b) return a < b end)
string.gsub("abc", "b", function(c) return c .. c end)
pcall(error, "away")
pcall(function() table.sort({2, 1}, function() error("from below C") end) end)
local resume = coroutine.wrap(function(a) a = coroutine.yield(a) return a end)
resume(resume(1))
local callback = ffi.cast("int (*)(int)", function(x) return x + 1 end)
sum = sum + callback(1)
collectgarbage("setpause", 0) collectgarbage("setstepmul", 1000) collectgarbage("step")
for i = 1, 40 do sum = sum + #string.rep("x", 500 + i) + #string.char(65, i) end
)lua";

constexpr std::uint64_t kMaxSteps = 1'000'000;

class RowChecker {
public:
    explicit RowChecker(const cfi::UnwindRows& rows) : rows_(rows) {}

    void check(const SteppedLuajit& program) {
        const cfi::UnwindRow* const row = row_at(program.file_vaddr());
        if (row == nullptr || program.calls().empty()) return;
        const cfi::UnwindRule& rule = rows_.rule_of(*row);
        if (rule.cfa == cfi::CfaKind::kExpression) {
            ++by_chain_;
            return;
        }
        ++checked_;
        seen_.insert(row->vaddr_from_base);
        if (!agrees(program, rule)) differ_.insert(rows_.file_vaddr(*row));
    }

    [[nodiscard]] std::uint64_t checked() const { return checked_; }
    [[nodiscard]] std::uint64_t by_chain() const { return by_chain_; }
    [[nodiscard]] bool saw(std::uint64_t file_vaddr) const {
        const cfi::UnwindRow* const row = row_at(file_vaddr);
        return row != nullptr && seen_.contains(row->vaddr_from_base);
    }
    [[nodiscard]] std::size_t rows_seen() const { return seen_.size(); }
    [[nodiscard]] const std::set<std::uint64_t>& differ() const { return differ_; }

private:
    // nullptr: not the VM's.
    [[nodiscard]] const cfi::UnwindRow* row_at(std::uint64_t file_vaddr) const {
        const auto after = std::ranges::upper_bound(
            rows_.rows, file_vaddr, {},
            [&](const cfi::UnwindRow& row) { return rows_.file_vaddr(row); });
        if (after == rows_.rows.begin() || after == rows_.rows.end()) return nullptr;
        return &*std::prev(after);
    }

    // A step of the GC is no function: its rows lead to whoever called the VM.
    static bool agrees(const SteppedLuajit& program, const cfi::UnwindRule& rule) {
        const auto& calls = program.calls();
        if (leads_to(program, rule, calls.back())) return true;
        const bool is_called_inside = calls.back().return_address_vaddr == program.registers().rsp;
        return is_called_inside && calls.size() > 1 &&
               leads_to(program, rule, calls[calls.size() - 2]);
    }
    static bool leads_to(const SteppedLuajit& program, const cfi::UnwindRule& rule,
                         const OpenCall& call) {
        const user_regs_struct& registers = program.registers();
        const std::map<std::uint8_t, std::uint64_t> values{
            {cfi::kRsp, registers.rsp}, {cfi::kRcx, registers.rcx}, {cfi::kRbp, registers.rbp}};
        const std::uint64_t cfa =
            values.at(rule.cfa_register) + static_cast<std::uint64_t>(rule.cfa_offset);
        const std::uint64_t rbp =
            rule.rbp == cfi::RbpKind::kSame
                ? registers.rbp
                : program.read_word(cfa + static_cast<std::uint64_t>(rule.rbp_offset));
        return cfa == call.cfa() && rbp == call.caller_rbp;
    }

    const cfi::UnwindRows& rows_;
    std::set<std::uint32_t> seen_;
    std::set<std::uint64_t> differ_;
    std::uint64_t checked_ = 0;
    std::uint64_t by_chain_ = 0;
};

TEST(LuajitOfDebian, HasItsCallerWhereTheRowsSayAtEachInstruction) {
    const LuajitProgram luajit(luajit_of_debian());
    const luajit::VmPlaces places = luajit.layout().places;
    const cfi::UnwindRows rows = luajit::make_unwind_rows(luajit.layout());
    RowChecker checker(rows);
    SteppedLuajit program({luajit.path(), "-Ohotloop=1", "-Ohotexit=1", "-e", kScript},
                          luajit.path(), places);
    std::uint64_t steps = 0;
    do checker.check(program);
    while (program.step() && ++steps < kMaxSteps);
    RecordProperty("steps", std::to_string(steps));
    RecordProperty("checked", std::to_string(checker.checked()));
    RecordProperty("rows", std::to_string(checker.rows_seen()));
    EXPECT_LT(steps, kMaxSteps) << "it did not end";
    for (const std::uint64_t file_vaddr : checker.differ()) {
        ADD_FAILURE() << fmt::format("the row at {:#x} leads elsewhere", file_vaddr);
    }
    EXPECT_GT(checker.checked(), 1000U);
    EXPECT_GT(checker.by_chain(), 0U) << "no trace was left";
    for (const std::uint64_t file_vaddr :
         {places.resume_file_vaddr, places.pcall_file_vaddr, places.call_file_vaddr,
          places.callback_file_vaddr, places.cpcall_file_vaddr + 1, places.leave_file_vaddr,
          places.unwind_ff_landed_file_vaddr, places.trace_entry_lowered_file_vaddr,
          places.exit_in_rcx_file_vaddr, places.exit_joined_file_vaddr,
          places.helpers_begin_file_vaddr, places.gc_step_file_vaddr, places.ffi_call_file_vaddr}) {
        EXPECT_TRUE(checker.saw(file_vaddr)) << fmt::format("{:#x} was not reached", file_vaddr);
    }
}

}  // namespace
}  // namespace bobbin::test
