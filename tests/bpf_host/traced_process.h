// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "user_walk/unwinder.h"

namespace bobbin::test {

using WalkRegisters = std::array<__u64, user_walk::WALK_REGISTERS>;

// A real program run under ptrace: stopped at breakpoints and stepped one instruction at a time.
// Its addresses are the same in every run (no ASLR), its input is empty, its output is thrown away.
// Threads are traced too and run on while one is stepped; children of fork are let go.
// One tracing thread, which owns the object; whatever still runs at its end is killed.
class TracedProcess {
public:
    // Stands at the first instruction of ld.so, or of a static program. Fails the test when the
    // program cannot be started.
    explicit TracedProcess(const std::vector<std::string>& arguments);
    ~TracedProcess();
    TracedProcess(const TracedProcess&) = delete;
    TracedProcess& operator=(const TracedProcess&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool is_alive() const { return !threads_.empty(); }

    // Each stops the first thread that comes there, once. Only starts of instructions.
    void set_breakpoints(std::span<const std::uint64_t> vaddrs);
    // Lets all threads run. nullopt: the process has ended.
    std::optional<pid_t> run_to_breakpoint();
    // Runs one instruction; false: the thread has ended.
    bool step(pid_t thread);

    // By DWARF number.
    [[nodiscard]] static WalkRegisters registers(pid_t thread);
    [[nodiscard]] bool read(std::uint64_t vaddr, std::span<std::byte> to) const;
    // AT_ENTRY: where ld.so jumps when all libraries of the start are there.
    [[nodiscard]] std::uint64_t entry_vaddr() const;

private:
    // What a thread that waitpid() told of is doing.
    enum class Event { kEnded, kBreakpoint, kStepped, kOther };
    Event understand(pid_t thread, int status);
    void resume(pid_t thread);
    void let_go_of_child(pid_t child, bool shares_memory);
    bool remove_breakpoint(std::uint64_t vaddr);

    pid_t pid_ = -1;
    UniqueFd memory_;
    std::set<pid_t> threads_;
    std::set<pid_t> not_threads_;                  // children, before their first stop
    std::map<pid_t, int> signals_;                 // to be delivered when the thread goes on
    std::map<std::uint64_t, std::byte> replaced_;  // by a breakpoint
    std::set<std::uint64_t> ever_replaced_;
    std::optional<pid_t> stopped_;
    bool has_shared_memory_ = false;
};

}  // namespace bobbin::test
