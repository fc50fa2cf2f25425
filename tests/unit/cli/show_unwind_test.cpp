// SPDX-License-Identifier: Apache-2.0
#include "cli/show_unwind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/temporary_directory.h"
#include "unit/elf/built_elf.h"

namespace bobbin::cli {
namespace {

using testing::HasSubstr;

// A function of gcc's with a frame pointer, push rbp at 0x401136 and ret at 0x401149, then nothing:
//   0x401136 cfa = rsp + 8   0x401137 cfa = rsp + 16, rbp saved   0x40113a cfa = rbp + 16
cfi::UnwindRows function_rows() {
    const auto rule = [](std::uint8_t base, std::int32_t cfa_offset, bool saved) {
        cfi::UnwindRule result;
        result.cfa = cfi::CfaKind::kRegisterOffset;
        result.cfa_register = base;
        result.cfa_offset = cfa_offset;
        result.rbp = saved ? cfi::RbpKind::kAtCfa : cfi::RbpKind::kSame;
        result.rbp_offset = saved ? -16 : 0;
        result.ra_offset = -8;
        return result;
    };
    cfi::UnwindRows rows;
    rows.base_file_vaddr = 0x401000;
    rows.rules = {cfi::UnwindRule{}, rule(cfi::kRsp, 8, false), rule(cfi::kRsp, 16, true),
                  rule(cfi::kRbp, 16, true)};
    rows.rows = {{0x136, 1}, {0x137, 2}, {0x13a, 3}, {0x14a, 0}};
    return rows;
}

struct Shown {
    bool ok = false;
    std::string text;
};
Shown shown(std::optional<std::uint64_t> pc_file_vaddr) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* stream = ::open_memstream(&text, &size);
    const Result<> result = show_rows(function_rows(), pc_file_vaddr, stream);
    std::fclose(stream);
    Shown answer{result.has_value(), std::string(text, size)};
    std::free(text);
    return answer;
}

TEST(ShowRows, GivesOneLineARow) {
    EXPECT_EQ(shown(std::nullopt).text,
              "0000000000401136  cfa = rsp + 8; rbp = same; ra = *(cfa - 8)\n"
              "0000000000401137  cfa = rsp + 16; rbp = *(cfa - 16); ra = *(cfa - 8)\n"
              "000000000040113a  cfa = rbp + 16; rbp = *(cfa - 16); ra = *(cfa - 8)\n"
              "000000000040114a  no unwind information\n");
}

TEST(ShowRows, FindsTheRowThatCoversAPc) {
    EXPECT_THAT(shown(0x401136).text, HasSubstr("0000000000401136  cfa = rsp + 8;"));
    EXPECT_THAT(shown(0x401139).text, HasSubstr("0000000000401137  cfa = rsp + 16;"));
    EXPECT_THAT(shown(0x40113a).text, HasSubstr("000000000040113a  cfa = rbp + 16;"));
    EXPECT_THAT(shown(0x401149).text, HasSubstr("000000000040113a  cfa = rbp + 16;"));
    EXPECT_THAT(shown(0x40114a).text, HasSubstr("000000000040114a  no unwind"));
    EXPECT_THAT(shown(~std::uint64_t{0}).text, HasSubstr("000000000040114a  no unwind"));
}

TEST(ShowRows, RefusesAPcBelowAllRows) {
    const Shown below = shown(0x401135);
    EXPECT_FALSE(below.ok);
    EXPECT_EQ(below.text, "");
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

// x86-64 gcc enters every function with cfa = rsp + 8 (psABI 3.4.5: the call pushed 8 bytes).
TEST(RunShowUnwind, WritesAscendingRowsOfThisProgram) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_show_unwind({this_program(), std::nullopt}), 0);
    std::istringstream lines(testing::internal::GetCapturedStdout());
    std::uint64_t previous = 0;
    std::size_t count = 0;
    std::size_t entry_rules = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        const std::uint64_t file_vaddr = std::stoull(line.substr(0, 16), nullptr, 16);
        EXPECT_TRUE(count == 0 || file_vaddr > previous) << line;
        previous = file_vaddr;
        entry_rules += line.ends_with("cfa = rsp + 8; rbp = same; ra = *(cfa - 8)") ? 1 : 0;
    }
    EXPECT_GT(entry_rules, count / 100) << "of " << count;
}

// gcc with these flags leaves f to .debug_frame.
TEST(RunShowUnwind, ShowsWhatDebugFrameAloneSays) {
    const elf::test::Workshop workshop;
    std::ofstream(workshop.path("f.c")) << "int f(int x) { return x + 1; }\n";
    workshop.run("gcc -shared -fPIC -O2 -g -fno-asynchronous-unwind-tables f.c -o f.so");
    std::istringstream address(
        elf::test::output_of("nm " + workshop.path("f.so") + " | grep ' T f$'"));
    std::uint64_t file_vaddr = 0;
    ASSERT_TRUE(address >> std::hex >> file_vaddr);
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_show_unwind({workshop.path("f.so"), file_vaddr}), 0);
    EXPECT_THAT(testing::internal::GetCapturedStdout(),
                HasSubstr("  cfa = rsp + 8; rbp = same; ra = *(cfa - 8)\n"));
}

TEST(RunShowUnwind, RefusesAnElfFileThatSaysNothing) {
    const elf::test::Workshop workshop;
    std::ofstream(workshop.path("silent.s")) << ".globl f\nf: ret\n";
    workshop.run("gcc -c silent.s -o silent.o && ld -shared silent.o -o silent.so");
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_show_unwind({workshop.path("silent.so"), std::nullopt}), 1);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("says nothing about unwinding"));
}

TEST(RunShowUnwind, RefusesAFileWithoutUnwindInformation) {
    const test::TemporaryDirectory directory;
    const std::string path = directory.write("text", "not ELF");
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_show_unwind({path, std::nullopt}), 1);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(path));
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_show_unwind({this_program(), std::uint64_t{0}}), 1);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no row covers 0x0"));
}

}  // namespace
}  // namespace bobbin::cli
