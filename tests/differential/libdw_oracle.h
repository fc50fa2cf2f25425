// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdwfl.h>

#include <memory>
#include <string_view>

#include "bpf_host/traced_process.h"
#include "differential/oracle_frames.h"
#include "differential/stopped_thread.h"

namespace bobbin::test {

// libdw's dwfl_getthread_frames over the same registers and memory.
class LibdwOracle {
public:
    explicit LibdwOracle(const TracedProcess& process);

    // To be called when the process has other mappings than before.
    void read_modules();
    OracleStack walk(const StoppedThread& thread);
    // An FDE of .eh_frame or .debug_frame covers the code at this address.
    [[nodiscard]] bool has_cfi_at(std::uint64_t vaddr);
    // Of the function at this address; empty: no symbol.
    [[nodiscard]] std::string_view symbol_at(std::uint64_t vaddr);

private:
    struct End {
        void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
    };
    const TracedProcess& process_;
    std::unique_ptr<Dwfl, End> dwfl_;
    bool is_attached_ = false;
    const StoppedThread* current_ = nullptr;

    static const Dwfl_Thread_Callbacks kThreadCallbacks;
    static pid_t next_thread(Dwfl* dwfl, void* self, void** thread_argument);
    static bool get_thread(Dwfl* dwfl, pid_t thread, void* self, void** thread_argument);
    static bool read_memory(Dwfl* dwfl, Dwarf_Addr vaddr, Dwarf_Word* result, void* self);
    static bool set_registers(Dwfl_Thread* thread, void* self);
};

}  // namespace bobbin::test
