// SPDX-License-Identifier: Apache-2.0
#include "executable/read_unwind_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include "unit/elf/built_elf.h"

namespace bobbin::executable {
namespace {

using elf::test::open_elf;
using elf::test::OpenElf;
using elf::test::Workshop;

std::uint64_t address_of(const OpenElf& elf, const std::string& function) {
    const auto symbols = elf->read_function_symbols();
    EXPECT_TRUE(symbols.has_value());
    const auto found = std::ranges::find(*symbols, function, &elf::Symbol::name);
    EXPECT_NE(found, symbols->end()) << function;
    return found == symbols->end() ? 0 : found->file_vaddr;
}

cfi::UnwindRule rule_at(const cfi::UnwindRows& unwind, std::uint64_t file_vaddr) {
    cfi::UnwindRule rule;
    for (const cfi::UnwindRow& row : unwind.rows) {
        if (unwind.file_vaddr(row) <= file_vaddr) rule = unwind.rule_of(row);
    }
    return rule;
}

// in_debug_frame is described in .debug_frame alone, in_eh_frame in .eh_frame alone, and nobody
// says a word on the assembly.
std::string build_two_kinds(const Workshop& workshop) {
    std::ofstream(workshop.path("a.c")) << "int in_debug_frame(int x) { return x * 3; }\n";
    std::ofstream(workshop.path("b.c"))
        << "int in_eh_frame(int x) { return x * 5; }\n"
           "__asm__(\".text; .globl silent; .type silent,@function; silent: ret\");\n";
    workshop.run(
        "gcc -c -fPIC -O2 -g -fno-asynchronous-unwind-tables a.c &&"
        " gcc -c -fPIC -O2 -g0 -fasynchronous-unwind-tables b.c &&"
        " gcc -shared -nostdlib a.o b.o -o two.so");
    return workshop.path("two.so");
}

// At a function's entry cfa = rsp + 8 (psABI 3.4.5: the call pushed 8 bytes).
TEST(ReadUnwindRows, TakesFromDebugFrameWhatEhFrameLeavesOpen) {
    const Workshop workshop;
    const OpenElf elf = open_elf(build_two_kinds(workshop));
    const Result<FileRows> rows = read_unwind_rows(*elf.file);
    ASSERT_TRUE(rows.has_value()) << rows.error().message();
    EXPECT_EQ(rows->damage, "");
    ASSERT_EQ(rows->sources.size(), 2U);
    EXPECT_EQ(rows->sources[0].section, ".eh_frame");
    EXPECT_EQ(rows->sources[0].function_count, 1U);
    EXPECT_EQ(rows->sources[1].section, ".debug_frame");
    EXPECT_EQ(rows->sources[1].function_count, 1U);
    EXPECT_EQ(rows->sources[1].function_refused_count, 0U);

    for (const std::string function : {"in_debug_frame", "in_eh_frame"}) {
        const cfi::UnwindRule rule = rule_at(rows->unwind, address_of(elf, function));
        EXPECT_EQ(rule.cfa, cfi::CfaKind::kRegisterOffset) << function;
        EXPECT_EQ(rule.cfa_register, cfi::kRsp) << function;
        EXPECT_EQ(rule.cfa_offset, 8) << function;
    }
    EXPECT_EQ(rule_at(rows->unwind, address_of(elf, "silent")).cfa, cfi::CfaKind::kNoCfi);
}

TEST(ReadUnwindRows, TakesAFileThatSaysNothingForWhatItIs) {
    const Workshop workshop;
    std::ofstream(workshop.path("silent.s")) << ".globl f\nf: ret\n";
    workshop.run("gcc -c silent.s -o silent.o && ld -shared silent.o -o silent.so");
    const OpenElf elf = open_elf(workshop.path("silent.so"));
    const Result<FileRows> rows = read_unwind_rows(*elf.file);
    ASSERT_TRUE(rows.has_value()) << rows.error().message();
    EXPECT_TRUE(rows->sources.empty());
    EXPECT_TRUE(rows->unwind.rows.empty());
    EXPECT_EQ(rows->damage, "");
}

// The length of its first CIE leads out of the section (DWARF 5 section 6.4.1).
TEST(ReadUnwindRows, KeepsTheRowsOfOtherSectionsWhenOneIsDamaged) {
    const Workshop workshop;
    const std::string path = build_two_kinds(workshop);
    workshop.run(
        "objcopy --dump-section .debug_frame=frames two.so &&"
        " printf '\\360\\377\\377\\177' | dd of=frames conv=notrunc status=none &&"
        " objcopy --update-section .debug_frame=frames two.so");
    const OpenElf elf = open_elf(path);
    const Result<FileRows> rows = read_unwind_rows(*elf.file);
    ASSERT_TRUE(rows.has_value()) << rows.error().message();
    EXPECT_NE(rows->damage, "");
    EXPECT_EQ(rule_at(rows->unwind, address_of(elf, "in_eh_frame")).cfa_offset, 8);
    EXPECT_EQ(rule_at(rows->unwind, address_of(elf, "in_debug_frame")).cfa, cfi::CfaKind::kNoCfi);
}

}  // namespace
}  // namespace bobbin::executable
