// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kallsyms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "support/temporary_directory.h"
#include "symbolize/kernel_symbolizer.h"

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;

constexpr const char* kKernel =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T __pi__text\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 t do_work\n"
    "ffffffff81000180 W weak_work\n"
    "ffffffff81000200 T __x64_sys_read\n"
    "ffffffff82000000 T _etext\n"
    "ffffffff82400000 D __start_rodata\n"
    "ffffffffc0200000 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0200800 d nft_counter\t[nf_tables]\n"
    "ffffffffc0201000 T nft_register\t[nf_tables]\n"
    "ffffffffc0000400 t bpf_prog_6deef7357e7b4530_sd_fw\t[bpf]\n";

KernelNames read(const std::string& text, std::vector<std::uint64_t> addresses) {
    std::istringstream stream(text);
    return read_kallsyms(stream, addresses);
}

// "name" or "name [module]" for each address, "-" where there is none.
std::vector<std::string> names_at(const std::string& text, std::vector<std::uint64_t> addresses) {
    std::vector<std::string> names;
    for (const KernelFunction& function : read(text, std::move(addresses)).functions) {
        const std::string module = function.module.empty() ? "" : " " + function.module;
        names.push_back(function.name.empty() ? "-" : function.name + module);
    }
    return names;
}

TEST(ReadKallsyms, NamesTheCoreKernel) {
    EXPECT_THAT(names_at(kKernel, {0xffffffff80ffffff, 0xffffffff81000004, 0xffffffff81000100,
                                   0xffffffff8100017f, 0xffffffff81000180, 0xffffffff81000234}),
                ElementsAre("-", "_stext", "do_work", "do_work", "weak_work", "__x64_sys_read"));
}

TEST(ReadKallsyms, NamesModulesAndBpfPrograms) {
    EXPECT_THAT(names_at(kKernel, {0xffffffffc0000410, 0xffffffffc0200010, 0xffffffffc0201010}),
                ElementsAre("bpf_prog_6deef7357e7b4530_sd_fw [bpf]", "nft_do_chain [nf_tables]",
                            "nft_register [nf_tables]"));
}

// What 6.18 lists of code that it made at run time: kernel/bpf/core.c (bpf_get_kallsym), of
// programs, trampolines and dispatchers alike; kernel/trace/ftrace.c; kernel/kprobes.c.
TEST(ReadKallsyms, NamesCodeThatTheKernelMakesAtRunTime) {
    const std::string list = std::string(kKernel) +
                             "ffffffffc0400000 t ftrace_trampoline\t[__builtin__ftrace]\n"
                             "ffffffffc0401000 t kprobe_insn_page\t[__builtin__kprobes]\n"
                             "ffffffffc0402000 t kprobe_optinsn_page\t[__builtin__kprobes]\n"
                             "ffffffffc0403000 t bpf_trampoline_6442507867\t[bpf]\n"
                             "ffffffffc0404000 t bpf_dispatcher_xdp\t[bpf]\n"
                             "ffffffffc0405000 t bpf_prog_ee0e253c78993a24_on_exit\t[bpf]\n";
    EXPECT_THAT(
        names_at(list, {0xffffffffc0400010, 0xffffffffc0401010, 0xffffffffc0402010,
                        0xffffffffc0403010, 0xffffffffc0404010, 0xffffffffc0405010}),
        ElementsAre("ftrace_trampoline [__builtin__ftrace]",
                    "kprobe_insn_page [__builtin__kprobes]",
                    "kprobe_optinsn_page [__builtin__kprobes]", "bpf_trampoline_6442507867 [bpf]",
                    "bpf_dispatcher_xdp [bpf]", "bpf_prog_ee0e253c78993a24_on_exit [bpf]"));
}

// Where the kernel begins: the distance to where it was linked moves its debugging information.
TEST(ReadKallsyms, FindsWhereTheCoreKernelBegins) {
    EXPECT_EQ(read(kKernel, {}).image_start, 0xffffffff81000000);
    EXPECT_EQ(read("ffffffffc0200000 t _text\t[odd_module]\n", {}).image_start, 0U);
}

TEST(ReadKallsyms, EndsFunctionsAtDataSymbolsAndAtTheEndOfText) {
    EXPECT_THAT(names_at(kKernel, {0xffffffff82000010, 0xffffffff82400010, 0xffffffffc0200900}),
                ElementsAre("-", "-", "-"));
}

TEST(ReadKallsyms, DoesNotStretchTheLastSymbolOverTheAddressSpace) {
    EXPECT_THAT(names_at(kKernel, {0xffffffffc8000000}), ElementsAre("-"));
}

TEST(ReadKallsyms, HasNoNamesWhereTheKernelHidesItsAddresses) {
    const std::string hidden =
        "0000000000000000 T _stext\n0000000000000000 T _etext\n"
        "0000000000000000 t nft_do_chain\t[nf_tables]\n";
    const KernelNames names = read(hidden, {0xffffffff81000004});
    EXPECT_EQ(names.functions.at(0).name, "");
    EXPECT_TRUE(names.range_by_module.empty());
}

TEST(ReadKallsyms, PassesOverLinesThatAreNone) {
    EXPECT_THAT(names_at("\nnonsense\nffffffff81000000\nffffffff81000000 T\n"
                         "xyz T f\nffffffff81000000 TT g\nffffffff810000000000 T h\n"
                         "ffffffff81000000 T good",
                         {0xffffffff81000001}),
                ElementsAre("good"));
}

TEST(ReadKallsyms, GivesTheRangesOfTextAndModules) {
    const auto ranges = read(kKernel, {}).range_by_module;
    EXPECT_EQ(ranges.at("").start, 0xffffffff81000000);
    EXPECT_EQ(ranges.at("").end, 0xffffffff82000000);
    EXPECT_EQ(ranges.at("[nf_tables]").start, 0xffffffffc0200000);
    EXPECT_EQ(ranges.at("[nf_tables]").end, 0xffffffffc0201001);
    EXPECT_EQ(ranges.at("[bpf]").start, 0xffffffffc0000400);
}

TEST(ReadKallsyms, TakesTheOutermostTextSymbolsWhereNoneMarksTheRange) {
    const auto ranges =
        read("ffffffff81000300 t b\nffffffff81000100 t a\nffffffff90000000 d data\n", {})
            .range_by_module;
    EXPECT_EQ(ranges.at("").start, 0xffffffff81000100);
    EXPECT_EQ(ranges.at("").end, 0xffffffff81000301);
}

TEST(KernelSymbolizer, ReadsTheListAtItsPath) {
    const test::TemporaryDirectory directory;
    test::put_file(directory / "kallsyms", kKernel);
    KernelSymbolizer symbolizer(directory / "kallsyms", {.sysfs = "/nonexistent"});
    const std::vector<std::uint64_t> addresses = {0xffffffff81000104, 0xffffffff82000010,
                                                  0xffffffffc0200010};
    const auto names = symbolizer.name(addresses);
    ASSERT_TRUE(names) << names.error().message();
    ASSERT_EQ(names->size(), 3U);
    EXPECT_EQ(names->at(0).at(0).system_name, "do_work");
    EXPECT_TRUE(names->at(1).empty());
    EXPECT_EQ(names->at(2).at(0).module, "[nf_tables]");
    EXPECT_EQ(symbolizer.range_of("").end, 0xffffffff82000000);
    EXPECT_EQ(symbolizer.range_of("[absent]").start, 0U);
}

TEST(KernelSymbolizer, SaysWhichListItCannotRead) {
    KernelSymbolizer symbolizer("/nonexistent/kallsyms");
    const auto names = symbolizer.name({});
    ASSERT_FALSE(names);
    EXPECT_EQ(names.error().message(), "open /nonexistent/kallsyms: No such file or directory");
}

}  // namespace
}  // namespace bobbin::symbolize
