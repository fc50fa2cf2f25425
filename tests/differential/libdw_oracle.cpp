// SPDX-License-Identifier: Apache-2.0
#include "differential/libdw_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "bobbin/bpf_abi.h"

namespace bobbin::test {
namespace {

// Only what stands in the file itself, as the walker has it.
int find_no_debug_file(Dwfl_Module* /*module*/, void** /*user*/, const char* /*name*/,
                       Dwarf_Addr /*base*/, const char* /*file*/, const char* /*link*/,
                       GElf_Word /*crc*/, char** /*found*/) {
    return -1;
}

const Dwfl_Callbacks kFileCallbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                       .find_debuginfo = find_no_debug_file,
                                       .section_address = nullptr,
                                       .debuginfo_path = nullptr};

// More than any program of the test has; a walk in a circle ends here.
constexpr std::size_t kMaxFrames = abi::MAX_USER_FRAMES;

int note_frame(Dwfl_Frame* frame, void* argument) {
    auto& frames = static_cast<OracleStack*>(argument)->frames;
    OracleFrame one;
    if (!dwfl_frame_pc(frame, &one.pc_vaddr, &one.is_activation)) return DWARF_CB_ABORT;
    frames.push_back(one);
    return frames.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace

const Dwfl_Thread_Callbacks LibdwOracle::kThreadCallbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
    .detach = nullptr,
    .thread_detach = nullptr,
};

LibdwOracle::LibdwOracle(const TracedProcess& process)
    : process_(process), dwfl_(dwfl_begin(&kFileCallbacks)) {
    read_modules();
}

void LibdwOracle::read_modules() {
    dwfl_report_begin(dwfl_.get());
    EXPECT_EQ(dwfl_linux_proc_report(dwfl_.get(), process_.pid()), 0) << dwfl_errmsg(-1);
    EXPECT_EQ(dwfl_report_end(dwfl_.get(), nullptr, nullptr), 0) << dwfl_errmsg(-1);
    if (is_attached_) return;
    is_attached_ = dwfl_attach_state(dwfl_.get(), nullptr, process_.pid(), &kThreadCallbacks, this);
    EXPECT_TRUE(is_attached_) << dwfl_errmsg(-1);
}

OracleStack LibdwOracle::walk(const StoppedThread& thread) {
    OracleStack stack;
    current_ = &thread;
    dwfl_errno();  // forgets an older error
    const int result = dwfl_getthread_frames(dwfl_.get(), thread.thread(), note_frame, &stack);
    if (result != 0) stack.gave_up = dwfl_errmsg(-1);
    return stack;
}

bool LibdwOracle::has_cfi_at(std::uint64_t vaddr) {
    Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), vaddr);
    if (module == nullptr) return false;
    for (const auto read_cfi : {dwfl_module_eh_cfi, dwfl_module_dwarf_cfi}) {
        Dwarf_Addr bias = 0;
        Dwarf_CFI* cfi = read_cfi(module, &bias);
        Dwarf_Frame* found = nullptr;
        if (cfi == nullptr || dwarf_cfi_addrframe(cfi, vaddr - bias, &found) != 0) continue;
        std::free(found);
        return true;
    }
    return false;
}

std::string_view LibdwOracle::symbol_at(std::uint64_t vaddr) {
    Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), vaddr);
    const char* name = module == nullptr ? nullptr : dwfl_module_addrname(module, vaddr);
    return name == nullptr ? "" : name;
}

pid_t LibdwOracle::next_thread(Dwfl* /*dwfl*/, void* self, void** thread_argument) {
    if (*thread_argument != nullptr) return 0;
    *thread_argument = self;
    return static_cast<LibdwOracle*>(self)->current_->thread();
}

bool LibdwOracle::get_thread(Dwfl* /*dwfl*/, pid_t /*thread*/, void* self, void** thread_argument) {
    *thread_argument = self;
    return true;
}

bool LibdwOracle::read_memory(Dwfl* /*dwfl*/, Dwarf_Addr vaddr, Dwarf_Word* result, void* self) {
    return static_cast<LibdwOracle*>(self)->current_->read(
        vaddr, std::as_writable_bytes(std::span(result, 1)));
}

bool LibdwOracle::set_registers(Dwfl_Thread* thread, void* self) {
    const WalkRegisters& own = static_cast<LibdwOracle*>(self)->current_->registers();
    std::array<Dwarf_Word, user_walk::WALK_REGISTERS> registers{};
    std::ranges::copy(own, registers.begin());
    return dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(registers.size()),
                                       registers.data());
}

}  // namespace bobbin::test
