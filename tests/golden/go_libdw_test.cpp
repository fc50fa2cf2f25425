// SPDX-License-Identifier: Apache-2.0
// Our rows of Go programs against what Go's compiler and linker say elsewhere: .debug_frame for the
// CFA and the return address, the instructions themselves for rbp, of which it says nothing.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "executable/read_unwind_rows.h"
#include "golden/go_debug_frame.h"
#include "golden/go_program.h"
#include "support/fixture_test_name.h"

namespace bobbin::test {
namespace {

using cfi::CfaKind;
using cfi::RbpKind;
using cfi::ReturnAddressKind;
using cfi::UnwindRule;

constexpr std::uint64_t kShown = 5;

// Where .debug_frame tells less than the truth, by the runtime's assembly.
const std::set<std::string> kSpecialFunctions = {
    "_rt0_amd64",
    "_rt0_amd64_linux",
    "gogo",
    "racecall",
    "runtime.asmcgocall",
    "runtime.asmcgocall_no_g",
    "runtime.callCgoMmap",
    "runtime.callCgoMunmap",
    "runtime.callCgoSigaction",
    "runtime.cgocallback",
    "runtime.clone",
    "runtime.goexit",
    "runtime.gogo",
    "runtime.mcall",
    "runtime.morestack",
    "runtime.mstart",
    "runtime.nanotime1",
    "runtime.rt0_go",
    "runtime.sigfwd",
    "runtime.sigreturn",
    "runtime.sigreturn__sigaction",
    "runtime.systemstack",
    "runtime.vgetrandom1",
    "runtime.switchToCrashStack0",
    "runtime.walltime",
    "syscall.rawVforkSyscall",
    "time.now",
    "runtime.walltime1",
    "runtime.cgocallback_gofunc",
};

std::string without_abi(std::string name) {
    for (const std::string suffix : {".abi0", ".abiinternal"}) {
        if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    }
    return name;
}

bool is_plain(const UnwindRule& rule) {
    return rule.cfa == CfaKind::kRegisterOffset && rule.cfa_register == cfi::kRsp &&
           rule.return_address == ReturnAddressKind::kAtCfa && rule.ra_offset == -8 &&
           !rule.signal_frame && !rule.changes_stack;
}

struct Tally {
    std::uint64_t functions = 0;
    std::uint64_t rows = 0;
    std::uint64_t special_rows = 0;
    std::uint64_t different = 0;
    std::uint64_t missing = 0;
};

void check_rule(const GoProgram& program, std::uint64_t file_vaddr, const DebugFrameRow& theirs,
                Tally& tally) {
    const UnwindRule& ours = program.rule_at(file_vaddr);
    const std::string function = program.function_at(file_vaddr);
    ++tally.rows;
    if (ours.cfa == CfaKind::kNoCfi) {
        if (++tally.missing <= kShown)
            ADD_FAILURE() << fmt::format("{:#x} in {}: no rule", file_vaddr, function);
        return;
    }
    if (!is_plain(ours)) {
        ++tally.special_rows;
        EXPECT_TRUE(kSpecialFunctions.contains(without_abi(function))) << function;
        return;
    }
    if (theirs.is_plain && ours.cfa_offset == theirs.cfa_offset) return;
    if (++tally.different <= kShown) {
        ADD_FAILURE() << fmt::format("{:#x} in {}: cfa = rsp + {}, libdw has {}", file_vaddr,
                                     function, ours.cfa_offset, theirs.cfa_offset);
    }
}

// Each row of theirs at its first and last byte. A signal trampoline of ours begins one byte early,
// in what is padding to them or the last byte of what stands before.
void check_function(const GoProgram& program, const DebugFrame& libdw, const elf::Symbol& function,
                    Tally& tally) {
    const std::uint64_t end = function.file_vaddr + function.size_bytes;
    ++tally.functions;
    for (std::uint64_t at = function.file_vaddr; at < end;) {
        const std::optional<DebugFrameRow> row = libdw.row_at(at);
        if (!row || row->end_file_vaddr <= at) break;
        check_rule(program, at, *row, tally);
        if (row->end_file_vaddr < end) check_rule(program, row->end_file_vaddr - 1, *row, tally);
        at = row->end_file_vaddr;
    }
}

class GoProgramRows : public testing::TestWithParam<std::string> {
protected:
    static GoProgram program() {
        return read_go_program(std::string(BOBBIN_FIXTURES_DIR) + "/" + GetParam());
    }
};

TEST_P(GoProgramRows, AgreeWithDebugFrameAtEveryRowOfEveryFunction) {
    const GoProgram program = GoProgramRows::program();
    const DebugFrame libdw(program.path);
    ASSERT_TRUE(libdw.is_open());
    Tally tally;
    for (const elf::Symbol& function : program.functions) {
        check_function(program, libdw, function, tally);
    }
    fmt::print(
        "{}: {} functions, {} rows at first and last byte, {} special, {} different, "
        "{} missing\n",
        GetParam(), tally.functions, tally.rows, tally.special_rows, tally.different,
        tally.missing);
    EXPECT_EQ(tally.different, 0U);
    EXPECT_EQ(tally.missing, 0U);
    EXPECT_EQ(program.rows.function_refused_count, 0U);
    EXPECT_GT(tally.functions, 1000U);
    EXPECT_GT(tally.rows, 10 * tally.special_rows);
}

// And the other way: no row of ours says anything that libdw does not.
TEST_P(GoProgramRows, SayNothingOfAddressesThatDebugFrameDoesNotCover) {
    const GoProgram program = GoProgramRows::program();
    const DebugFrame libdw(program.path);
    ASSERT_TRUE(libdw.is_open());
    const cfi::UnwindRows& unwind = program.rows.unwind;
    std::uint64_t uncovered = 0;
    for (const cfi::UnwindRow& row : unwind.rows) {
        const UnwindRule& rule = unwind.rule_of(row);
        const std::uint64_t at = unwind.file_vaddr(row) + (rule.signal_frame ? 1 : 0);
        if (rule.cfa == CfaKind::kNoCfi || libdw.row_at(at)) continue;
        if (++uncovered <= kShown)
            ADD_FAILURE() << fmt::format("{:#x} in {}", at, program.function_at(at));
    }
    EXPECT_EQ(uncovered, 0U);
}

bool ends_with(std::span<const std::byte> text, std::initializer_list<unsigned> bytes) {
    return std::ranges::equal(text.last(std::min(text.size(), bytes.size())), bytes, {},
                              [](std::byte byte) { return std::to_integer<unsigned>(byte); });
}

// push rbp, or mov [rsp + d], rbp with rsp + d = cfa - 16.
bool saves_rbp_before(const GoProgram& program, std::uint64_t file_vaddr, const UnwindRule& rule) {
    const auto d = static_cast<unsigned>(rule.cfa_offset - 16);
    const auto text = program.text_before(file_vaddr, 8);
    return ends_with(text, {0x55}) || ends_with(text, {0x48, 0x89, 0x6c, 0x24, d}) ||
           (d == 0 && ends_with(text, {0x48, 0x89, 0x2c, 0x24})) ||
           ends_with(text,
                     {0x48, 0x89, 0xac, 0x24, d & 0xff, d >> 8 & 0xff, d >> 16 & 0xff, d >> 24});
}

// mov rbp, rsp, or lea rbp, [rsp + d]
bool sets_frame_pointer_before(const GoProgram& program, std::uint64_t file_vaddr) {
    return ends_with(program.text_before(file_vaddr, 3), {0x48, 0x89, 0xe5}) ||
           ends_with(program.text_before(file_vaddr - 1, 4), {0x48, 0x8d, 0x6c, 0x24});
}

bool has_frame(const UnwindRule& rule) {
    return is_plain(rule) && rule.cfa_offset > 8 && rule.rbp == RbpKind::kAtCfa;
}

// Go's .debug_frame has no word on rbp; the instruction before the row has.
TEST_P(GoProgramRows, FindRbpWhereAnInstructionJustSavedIt) {
    const GoProgram program = GoProgramRows::program();
    const cfi::UnwindRows& unwind = program.rows.unwind;
    std::uint64_t saved = 0;
    std::uint64_t wrong = 0;
    for (const elf::Symbol& function : program.functions) {
        const auto first = std::ranges::find_if(
            std::ranges::lower_bound(
                unwind.rows, function.file_vaddr, {},
                [&](const cfi::UnwindRow& row) { return unwind.file_vaddr(row); }),
            unwind.rows.end(),
            [&](const cfi::UnwindRow& row) { return has_frame(unwind.rule_of(row)); });
        if (first == unwind.rows.end()) break;
        const std::uint64_t at = unwind.file_vaddr(*first);
        if (at >= function.file_vaddr + function.size_bytes) continue;
        ++saved;
        if (saves_rbp_before(program, at, unwind.rule_of(*first))) continue;
        // These push rbp themselves, so that it is saved a little before the rule says so.
        const std::string name = without_abi(function.name);
        if (name == "runtime.asyncPreempt" || name == "runtime.sigfwd") continue;
        if (++wrong <= kShown) ADD_FAILURE() << fmt::format("{:#x} in {}", at, function.name);
    }
    EXPECT_EQ(wrong, 0U);
    EXPECT_GT(saved, 1000U);
}

TEST_P(GoProgramRows, FollowRbpOverAChangeOfStacksOnlyOnceItPointsIntoTheFrame) {
    const GoProgram program = GoProgramRows::program();
    const cfi::UnwindRows& unwind = program.rows.unwind;
    std::set<std::string> functions;
    for (const cfi::UnwindRow& row : unwind.rows) {
        const std::string name = program.function_at(unwind.file_vaddr(row));
        if (!unwind.rule_of(row).changes_stack || !functions.insert(name).second) continue;
        EXPECT_TRUE(sets_frame_pointer_before(program, unwind.file_vaddr(row))) << name;
    }
    // nanotime1 has had a frame in all versions.
    EXPECT_TRUE(functions.contains("runtime.nanotime1.abi0")) << functions.size();
}

// Fails the test when the file cannot be read.
executable::FileRows rows_of_file(const std::string& fixture) {
    const std::string path = std::string(BOBBIN_FIXTURES_DIR) + "/" + fixture;
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto elf = elf::ElfFile::open(fd.get());
    EXPECT_TRUE(elf.has_value()) << path;
    if (!elf) return {};
    auto rows = executable::read_unwind_rows(*elf);
    EXPECT_TRUE(rows.has_value()) << path;
    return rows ? std::move(*rows) : executable::FileRows{};
}

TEST_P(GoProgramRows, AreFoundInAFileOfWhichNothingIsKnown) {
    const executable::FileRows rows = rows_of_file(GetParam());
    ASSERT_FALSE(rows.sources.empty());
    EXPECT_EQ(rows.sources.front().section, ".gopclntab");
    EXPECT_EQ(rows.sources.front().function_count, program().rows.function_count);
    EXPECT_EQ(rows.damage, "");
}

INSTANTIATE_TEST_SUITE_P(Of, GoProgramRows,
                         testing::Values("go_chain.exe", "go_chain.exe_plain_dwarf", "go_chain.pie",
                                         "go_cgo.exe", "go_cgo.pie"),
                         fixture_test_name);

class StrippedGoProgram : public testing::TestWithParam<std::string> {};

TEST_P(StrippedGoProgram, SaysOfAsManyFunctionsAsBeforeItWasStripped) {
    const executable::FileRows stripped = rows_of_file(GetParam() + "_stripped");
    const executable::FileRows whole = rows_of_file(GetParam());
    ASSERT_FALSE(stripped.sources.empty());
    ASSERT_FALSE(whole.sources.empty());
    EXPECT_EQ(stripped.sources.front().section, ".gopclntab");
    EXPECT_EQ(stripped.sources.front().function_count, whole.sources.front().function_count);
    EXPECT_EQ(stripped.damage, "");
}

INSTANTIATE_TEST_SUITE_P(Of, StrippedGoProgram,
                         testing::Values("go_chain.exe", "go_chain.pie", "go_cgo.exe"),
                         fixture_test_name);

}  // namespace
}  // namespace bobbin::test
