// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_lines.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "symbolize/kernel_symbolizer.h"
#include "unit/symbolize/built_program.h"

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

// step() is inlined into do_work on line 3.
constexpr const char* kSource =
    "extern int other(int);\n"
    "static inline __attribute__((always_inline)) int step(int x) { return other(x) * 3; }\n"
    "__attribute__((noinline)) int do_work(int x) { return step(x) + 1; }\n"
    "__attribute__((noinline)) int other(int x) { return x ^ 5; }\n"
    "int _start(int x) { return do_work(x); }\n";
constexpr const char* kLikeAKernel =
    "-O2 -g -nostdlib -static -no-pie -fno-pic -mcmodel=kernel -Wl,--build-id "
    "-Wl,-Ttext=0xffffffff81000000";
constexpr std::uint64_t kLinkedStart = 0xffffffff81000000;
constexpr std::uint64_t kRunningStart = 0xffffffff9ea00000;

// A kernel that was built, says its build id in sysfs and runs somewhere else than it was linked.
class KernelLines : public testing::Test {
protected:
    KernelLines() {
        run("mkdir -p '$D/sys/kernel' && objcopy -O binary --only-section=.note.gnu.build-id "
            "'$P' '$D/sys/kernel/notes'");
        std::string list =
            fmt::format("{:x} T _text\n{:x} T _stext\n", kRunningStart, kRunningStart);
        for (const test::NmSymbol& symbol : test::read_nm(image_.path())) {
            list += fmt::format("{:x} T {}\n", running(symbol.vaddr), symbol.name);
        }
        list += fmt::format("{:x} T _etext\n", kRunningStart + 0x10000);
        list += "ffffffffc0201000 T nft_register\t[nf_tables]\n";
        test::put_file(directory_ / "kallsyms", list);
    }

    // $P: the kernel; $D: the root of all places.
    void run(std::string command) const {
        const auto replace = [&](const std::string& what, const std::string& with) {
            for (std::size_t at = command.find(what); at != std::string::npos;
                 at = command.find(what)) {
                command.replace(at, what.size(), with);
            }
        };
        replace("$P", image_.path());
        replace("$D", directory_.path());
        EXPECT_EQ(test::output_of("(" + command + ") 2>&1 && echo done"), "done\n");
    }

    static std::uint64_t running(std::uint64_t vaddr) {
        return vaddr - kLinkedStart + kRunningStart;
    }

    // The call of other() inside of do_work, by objdump: what step became.
    [[nodiscard]] std::uint64_t call_in_do_work() const {
        const std::string line =
            test::output_of("objdump -d --no-show-raw-insn --disassemble=do_work '" +
                            image_.path() + "' | grep 'call.*other' | head -1");
        return std::stoull(line, nullptr, 16);
    }

    [[nodiscard]] std::vector<NamedFrame> frames_at(std::uint64_t address) const {
        KernelDebugInfo info;
        info.sysfs = directory_ / "sys";
        info.root = directory_.path();
        info.release = "6.0-made-up";
        info.name_object = [](int fd, const std::string& path,
                              std::span<const std::uint64_t> addresses) {
            auto object = name_object(fd, path, addresses);
            return object ? std::move(object->names) : NamesOfEach();
        };
        KernelSymbolizer symbolizer(directory_ / "kallsyms", std::move(info));
        const std::vector<std::uint64_t> addresses = {address};
        const auto names = symbolizer.name(addresses);
        EXPECT_TRUE(names.has_value());
        return names ? names->front() : std::vector<NamedFrame>();
    }

    static std::vector<std::string> names_of(const std::vector<NamedFrame>& frames) {
        std::vector<std::string> names;
        for (const NamedFrame& frame : frames) names.push_back(frame.system_name);
        return names;
    }

    test::BuiltProgram image_{kSource, "kernel.c", kLikeAKernel};
    test::TemporaryDirectory directory_;
};

TEST_F(KernelLines, AreThoseOfTheImageMovedToWhereItRuns) {
    run("mkdir -p '$D/usr/lib/debug/boot' && cp '$P' '$D/usr/lib/debug/boot/vmlinux-6.0-made-up'");
    const auto frames = frames_at(running(call_in_do_work()));
    ASSERT_THAT(names_of(frames), ElementsAre("step", "do_work"));
    EXPECT_THAT(frames[0].file, EndsWith("/kernel.c"));
    EXPECT_EQ(frames[0].line, 2U);
    EXPECT_EQ(frames[1].line, 3U);
}

// arch/x86/kernel/vmlinux.lds.S, NOTES: one section; Debian's packages keep only what is not in the
// image that boots.
TEST_F(KernelLines, AreFoundByANoteInTheKernelsOwnSection) {
    run("mkdir -p '$D/lib/modules/6.0-made-up/build' && objcopy --only-keep-debug "
        "--rename-section .note.gnu.build-id=.notes '$P' "
        "'$D/lib/modules/6.0-made-up/build/vmlinux'");
    EXPECT_THAT(names_of(frames_at(running(call_in_do_work()))), ElementsAre("step", "do_work"));
}

TEST_F(KernelLines, AreNotTakenFromAnotherBuild) {
    const test::BuiltProgram other(std::string(kSource) + "int more;\n", "kernel.c", kLikeAKernel);
    run("mkdir -p '$D/boot' && cp '" + other.path() + "' '$D/boot/vmlinux-6.0-made-up'");
    const auto frames = frames_at(running(call_in_do_work()));
    ASSERT_THAT(names_of(frames), ElementsAre("do_work"));
    EXPECT_EQ(frames.front().line, 0U);
}

TEST_F(KernelLines, LeaveModulesAndUnknownAddressesAsTheyAre) {
    run("mkdir -p '$D/boot' && cp '$P' '$D/boot/vmlinux-6.0-made-up'");
    const auto frames = frames_at(0xffffffffc0201004);
    ASSERT_THAT(names_of(frames), ElementsAre("nft_register"));
    EXPECT_EQ(frames.front().module, "[nf_tables]");
    EXPECT_EQ(frames.front().line, 0U);
    EXPECT_THAT(frames_at(0xffffffff80000000), IsEmpty());
}

}  // namespace
}  // namespace bobbin::symbolize
