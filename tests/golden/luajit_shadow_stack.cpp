// SPDX-License-Identifier: Apache-2.0
#include "golden/luajit_shadow_stack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>

namespace bobbin::test {
namespace {

constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kLongestCallBytes = 8;  // call [base+index*8+disp32], with a prefix

pid_t start_traced(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
        arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::personality(ADDR_NO_RANDOMIZE);  // addresses decide which loops are found hot
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        ::execv(arguments.front(), arguments.data());
        ::_exit(127);
    }
    return pid;
}

// Where code of files is mapped.
std::vector<std::pair<std::uint64_t, std::uint64_t>> list_code(pid_t pid) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);) {
        std::size_t used = 0;
        const std::uint64_t begin = std::stoull(line, &used, 16);
        const std::uint64_t end = std::stoull(line.substr(used + 1), nullptr, 16);
        const bool is_code = line.find(" r-xp ") != std::string::npos;
        if (is_code && line.find('/') != std::string::npos) ranges.emplace_back(begin, end);
    }
    return ranges;
}

// Of a program whose first segment begins at file_vaddr 0.
std::uint64_t find_load_bias(pid_t pid, const std::string& path) {
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);) {
        if (line.ends_with(path)) return std::stoull(line, nullptr, 16);
    }
    ADD_FAILURE() << path << " is not mapped";
    return 0;
}

}  // namespace

SteppedLuajit::SteppedLuajit(const std::vector<std::string>& command, const std::string& path,
                             const luajit::VmPlaces& places)
    : pid_(start_traced(command)), places_(places) {
    if (!wait_for_stop()) return;
    load_bias_ = find_load_bias(pid_, path);
    if (run_through_c()) code_of_files_ = list_code(pid_);
}

SteppedLuajit::~SteppedLuajit() {
    if (ended_) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
}

bool SteppedLuajit::wait_for_stop() {
    int status = 0;
    const bool stopped = ::waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status);
    ended_ = !stopped || ::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers_) != 0;
    return !ended_;
}

std::uint64_t SteppedLuajit::read_word(std::uint64_t vaddr) const {
    return static_cast<std::uint64_t>(::ptrace(PTRACE_PEEKDATA, pid_, vaddr, nullptr));
}

void SteppedLuajit::write_byte(std::uint64_t vaddr, std::uint8_t byte) const {
    const std::uint64_t word = (read_word(vaddr) & ~std::uint64_t{0xff}) | byte;
    ::ptrace(PTRACE_POKETEXT, pid_, vaddr, word);
}

// By an int3 at each of them, all of which are taken out again.
bool SteppedLuajit::run_to(const std::vector<std::uint64_t>& vaddrs) {
    constexpr std::uint8_t kInt3 = 0xcc;
    std::map<std::uint64_t, std::uint8_t> bytes;
    for (const std::uint64_t vaddr : vaddrs) {
        bytes.emplace(vaddr, static_cast<std::uint8_t>(read_word(vaddr)));
    }
    for (const auto& [vaddr, byte] : bytes) write_byte(vaddr, kInt3);
    ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
    if (!wait_for_stop()) return false;
    for (const auto& [vaddr, byte] : bytes) write_byte(vaddr, byte);
    --registers_.rip;
    return ::ptrace(PTRACE_SETREGS, pid_, nullptr, &registers_) == 0;
}

bool SteppedLuajit::run_through_c() {
    const std::vector<std::uint64_t> entries{places_.resume_file_vaddr, places_.pcall_file_vaddr,
                                             places_.call_file_vaddr, places_.cpcall_file_vaddr,
                                             places_.ffi_call_file_vaddr};
    std::vector<std::uint64_t> stops = entries;
    stops.insert(stops.end(), {places_.callback_file_vaddr, places_.unwind_c_landed_file_vaddr,
                               places_.unwind_ff_landed_file_vaddr});
    for (std::uint64_t& stop : stops) stop += load_bias_;
    if (!calls_.empty()) stops.push_back(read_word(calls_.back().return_address_vaddr));
    if (!run_to(stops)) return false;
    called_c_ = false;
    drop_what_is_gone();
    if (std::ranges::find(entries, file_vaddr()) != entries.end()) {
        calls_.push_back({registers_.rsp, registers_.rbp});
    } else if (file_vaddr() == places_.callback_file_vaddr) {
        // Its page has pushed rbp.
        calls_.push_back({registers_.rsp + kWordBytes, read_word(registers_.rsp)});
    }
    return true;
}

bool SteppedLuajit::is_in_c() const {
    const bool is_vm =
        file_vaddr() >= places_.begin_file_vaddr && file_vaddr() < places_.ffi_call_end_file_vaddr;
    return !is_vm && std::ranges::any_of(code_of_files_, [&](const auto& range) {
        return range.first <= registers_.rip && registers_.rip < range.second;
    });
}

void SteppedLuajit::drop_what_is_gone() {
    while (!calls_.empty() && calls_.back().return_address_vaddr < registers_.rsp) {
        calls_.pop_back();
    }
}

bool SteppedLuajit::step() {
    if (ended_) return false;
    return called_c_ ? run_through_c() : run_one();
}

bool SteppedLuajit::run_one() {
    const user_regs_struct before = registers_;
    if (::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0) return false;
    if (!wait_for_stop()) return false;
    drop_what_is_gone();
    if (registers_.rsp != before.rsp - kWordBytes) return true;
    const std::uint64_t pushed = read_word(registers_.rsp);
    if (pushed <= before.rip || pushed - before.rip > kLongestCallBytes) return true;
    calls_.push_back({registers_.rsp, before.rbp});
    called_c_ = is_in_c();
    return true;
}

}  // namespace bobbin::test
