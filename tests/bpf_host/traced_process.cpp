// SPDX-License-Identifier: Apache-2.0
#include "bpf_host/traced_process.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

namespace bobbin::test {
namespace {

constexpr std::byte kBreakpointInstruction{0xcc};

[[noreturn]] void become(const std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (const auto& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    const int null = ::open("/dev/null", O_RDWR);
    for (const int standard : {0, 1, 2}) ::dup2(null, standard);
    // Go's scheduler interrupts a goroutine that seems to run for long, again and again while it is
    // stepped.
    ::setenv("GODEBUG", "asyncpreemptoff=1", 1);
    ::setenv("GOMAXPROCS", "1", 1);
    // A program may spin for ever: whoever traces it takes away time that its timers count.
    constexpr rlimit kMostCpuSeconds{.rlim_cur = 5, .rlim_max = 5};
    ::setrlimit(RLIMIT_CPU, &kMostCpuSeconds);
    ::personality(ADDR_NO_RANDOMIZE);
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
}

void go_on(__ptrace_request how, pid_t thread, int signal) {
    ::ptrace(how, thread, nullptr, static_cast<long>(signal));
}

user_regs_struct raw_registers(pid_t thread) {
    user_regs_struct registers{};
    ::ptrace(PTRACE_GETREGS, thread, nullptr, &registers);
    return registers;
}

// int3 alone has this code: a step, and the first instruction of a handler that was stepped into,
// have those of sigaction(2), and kill() and raise() negative ones (arch/x86/kernel/traps.c,
// ptrace.c). An address does not tell them apart: a step may end right behind a breakpoint that was
// not run.
enum class Trap { kBreakpoint, kStep, kSentByProgram };

Trap trap_of(pid_t thread) {
    siginfo_t info{};
    ::ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info);
    if (info.si_code == SI_KERNEL) return Trap::kBreakpoint;
    return info.si_code > 0 ? Trap::kStep : Trap::kSentByProgram;
}

unsigned long event_message(pid_t thread) {
    unsigned long message = 0;
    ::ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &message);
    return message;
}

}  // namespace

TracedProcess::TracedProcess(const std::vector<std::string>& arguments) {
    pid_ = ::fork();
    if (pid_ == 0) become(arguments);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFSTOPPED(status)) << "cannot run " << arguments[0];
    if (!WIFSTOPPED(status)) return;
    ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr,
             PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                 PTRACE_O_TRACEEXEC);
    memory_ =
        UniqueFd(::open(("/proc/" + std::to_string(pid_) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
    threads_.insert(pid_);
    stopped_ = pid_;
}

TracedProcess::~TracedProcess() {
    if (threads_.empty()) return;
    ::kill(pid_, SIGKILL);
    for (int status = 0; ::waitpid(-1, &status, __WALL) > 0;) {
    }
}

void TracedProcess::set_breakpoints(std::span<const std::uint64_t> vaddrs) {
    if (has_shared_memory_) return;
    for (const std::uint64_t vaddr : vaddrs) {
        std::byte replaced{};
        if (replaced_.contains(vaddr) || !read(vaddr, std::span(&replaced, 1))) continue;
        // Writes to read-only text succeed through this file.
        if (::pwrite(memory_.get(), &kBreakpointInstruction, 1, static_cast<off_t>(vaddr)) == 1) {
            replaced_.emplace(vaddr, replaced);
            ever_replaced_.insert(vaddr);
        }
    }
}

bool TracedProcess::remove_breakpoint(std::uint64_t vaddr) {
    const auto found = replaced_.find(vaddr);
    if (found == replaced_.end()) return false;
    const auto written = ::pwrite(memory_.get(), &found->second, 1, static_cast<off_t>(vaddr));
    EXPECT_EQ(written, 1);
    replaced_.erase(found);
    return true;
}

// A child would die of a breakpoint. One of vfork uses our memory, so that there are to be none.
void TracedProcess::let_go_of_child(pid_t child, bool shares_memory) {
    const std::string path = "/proc/" + std::to_string(child) + "/mem";
    const UniqueFd memory(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    for (const auto& [vaddr, replaced] : replaced_) {
        const auto written = ::pwrite(memory.get(), &replaced, 1, static_cast<off_t>(vaddr));
        EXPECT_EQ(written, 1);
    }
    if (shares_memory) replaced_.clear();
    ::ptrace(PTRACE_DETACH, child, nullptr, nullptr);
}

TracedProcess::Event TracedProcess::understand(pid_t thread, int status) {
    if (!WIFSTOPPED(status)) {
        threads_.erase(thread);
        return Event::kEnded;
    }
    if (not_threads_.erase(thread) != 0) {
        let_go_of_child(thread, has_shared_memory_);
        return Event::kEnded;
    }
    const int event = status >> 16;
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
        has_shared_memory_ |= event == PTRACE_EVENT_VFORK;
        const auto child = static_cast<pid_t>(event_message(thread));
        int child_status = 0;
        if (::waitpid(child, &child_status, __WALL) == child) {
            let_go_of_child(child, event == PTRACE_EVENT_VFORK);
        }
        return Event::kOther;
    }
    if (event != 0) return Event::kOther;
    const bool is_new = threads_.insert(thread).second;
    const int signal = WSTOPSIG(status);
    if (is_new && signal == SIGSTOP) return Event::kOther;
    const Trap trap = signal == SIGTRAP ? trap_of(thread) : Trap::kSentByProgram;
    if (trap == Trap::kStep) return Event::kStepped;
    auto registers = raw_registers(thread);
    if (trap == Trap::kSentByProgram || !ever_replaced_.contains(registers.rip - 1)) {
        signals_[thread] = signal;
        return Event::kOther;
    }
    --registers.rip;
    ::ptrace(PTRACE_SETREGS, thread, nullptr, &registers);
    // Another thread may have come here first.
    return remove_breakpoint(registers.rip) ? Event::kBreakpoint : Event::kOther;
}

void TracedProcess::resume(pid_t thread) {
    const auto signal = signals_.extract(thread);
    go_on(PTRACE_CONT, thread, signal ? signal.mapped() : 0);
}

std::optional<pid_t> TracedProcess::run_to_breakpoint() {
    if (stopped_) resume(*stopped_);
    stopped_.reset();
    while (!threads_.empty()) {
        int status = 0;
        const pid_t thread = ::waitpid(-1, &status, __WALL);
        if (thread < 0) break;
        const Event event = understand(thread, status);
        if (event == Event::kBreakpoint) return stopped_ = thread;
        if (event != Event::kEnded) resume(thread);
    }
    threads_.clear();
    return std::nullopt;
}

bool TracedProcess::step(pid_t thread) {
    // Stepping onto a breakpoint is not stepping over it.
    remove_breakpoint(raw_registers(thread).rip);
    const auto signal = signals_.extract(thread);
    go_on(PTRACE_SINGLESTEP, thread, signal ? signal.mapped() : 0);
    for (;;) {
        int status = 0;
        const pid_t waited = ::waitpid(-1, &status, __WALL);
        if (waited < 0) {
            threads_.clear();
            return false;
        }
        const Event event = understand(waited, status);
        if (waited != thread) {
            if (event != Event::kEnded) resume(waited);
            continue;
        }
        if (event == Event::kEnded) {
            stopped_.reset();
            return false;
        }
        if (event == Event::kStepped || event == Event::kBreakpoint) return true;
        const auto next = signals_.extract(thread);
        go_on(PTRACE_SINGLESTEP, thread, next ? next.mapped() : 0);
    }
}

WalkRegisters TracedProcess::registers(pid_t thread) {
    const auto raw = raw_registers(thread);
    return {raw.rax, raw.rdx, raw.rcx, raw.rbx, raw.rsi, raw.rdi, raw.rbp, raw.rsp, raw.r8,
            raw.r9,  raw.r10, raw.r11, raw.r12, raw.r13, raw.r14, raw.r15, raw.rip};
}

bool TracedProcess::read(std::uint64_t vaddr, std::span<std::byte> to) const {
    iovec local{.iov_base = to.data(), .iov_len = to.size()};
    iovec remote{.iov_base = reinterpret_cast<void*>(vaddr), .iov_len = to.size()};
    return ::process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(to.size());
}

std::uint64_t TracedProcess::entry_vaddr() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/auxv", std::ios::binary);
    Elf64_auxv_t one{};
    while (file.read(reinterpret_cast<char*>(&one), sizeof(one))) {
        if (one.a_type == AT_ENTRY) return one.a_un.a_val;
    }
    return 0;
}

}  // namespace bobbin::test
