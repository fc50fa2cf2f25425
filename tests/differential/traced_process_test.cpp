// SPDX-License-Identifier: Apache-2.0
// What the comparison stands on: that tracing does not change what the program does.
#include "bpf_host/traced_process.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace bobbin::test {
namespace {

constexpr int kMostSteps = 20000;
constexpr std::size_t kRsp = 7;
constexpr std::size_t kRip = 16;
constexpr std::uint64_t kLongestInstruction = 15;

// What the instruction from `before` to `after` pushed as a return address; 0: it was no call.
std::uint64_t pushed_return_address(const TracedProcess& process, const WalkRegisters& before,
                                    const WalkRegisters& after) {
    std::uint64_t word = 0;
    if (after[kRsp] != before[kRsp] - sizeof(word)) return 0;
    if (!process.read(after[kRsp], std::as_writable_bytes(std::span(&word, 1)))) return 0;
    const bool is_behind = word > before[kRip] && word <= before[kRip] + kLongestInstruction;
    return is_behind && after[kRip] != word ? word : 0;
}

// A call's last byte is no start of an instruction: nobody runs the breakpoint there. As it is with
// libc's __restore_rt, whose CFI begins one byte before it (sysdeps/unix/sysv/linux/x86_64).
TEST(TracedProcess, TakesAStepToBehindABreakpointForAStep) {
    TracedProcess process({BOBBIN_FIXTURES_DIR "/signals.gcc.pie", "0.05"});
    std::set<std::uint64_t> return_addresses;
    WalkRegisters before = TracedProcess::registers(process.pid());
    for (int steps = 0; steps < kMostSteps; ++steps) {
        ASSERT_TRUE(process.step(process.pid()));
        const WalkRegisters after = TracedProcess::registers(process.pid());
        if (return_addresses.contains(after[kRip])) return;
        ASSERT_FALSE(return_addresses.contains(after[kRip] + 1)) << "back in the call";
        if (const auto vaddr = pushed_return_address(process, before, after)) {
            return_addresses.insert(vaddr);
            process.set_breakpoints(std::array{vaddr - 1});
        }
        before = after;
    }
    FAIL() << "no call returned";
}

}  // namespace
}  // namespace bobbin::test
