// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bobbin::luajit {

// What ~vmstate counts (LuaJIT's lj_obj.h, LJ_VMST_*). Tarantool's fork has names of its own since
// December 2020: there the GC is the fifth state, not the third.
enum class VmStates : std::uint8_t {
    kUpstream,   // INTERP C GC EXIT RECORD OPT ASM
    kTarantool,  // INTERP LFUNC FFUNC CFUNC GC EXIT RECORD OPT ASM
};

// Where things lie in the structures of one build of LuaJIT 2.1 for x86-64, in bytes. A reference
// to an object has 8 bytes with LJ_GC64, else 4; fields marked (8) have 8 in both.
struct VmOffsets {
    // The C frame, from rsp while the interpreter runs; lua_State.cframe points there, with flags
    // in its low two bits.
    std::int32_t cframe_results = 0;         // SAVE_NRES, int32: below 0 it has no Lua frames
    std::int32_t cframe_error_function = 0;  // SAVE_ERRF, int32
    std::int32_t cframe_state = 0;           // SAVE_L: its lua_State
    std::int32_t cframe_pc = 0;              // SAVE_PC: into bytecode, or anything else when unset
    std::int32_t cframe_previous = 0;        // (8) SAVE_CFRAME: the next outer C frame, or 0

    // From a lua_State, that is, a coroutine. Its type, gct, lies two bytes before status.
    std::int32_t state_status = 0;     // uint8
    std::int32_t state_global = 0;     // glref: its global_State
    std::int32_t state_base = 0;       // (8)
    std::int32_t state_top = 0;        // (8)
    std::int32_t state_max_stack = 0;  // the last slot but a few
    std::int32_t state_stack = 0;      // the first slot
    std::int32_t state_cframe = 0;     // (8)

    // From the global_State. A process may have several.
    std::int32_t dispatch = 0;          // where r14 points to in the interpreter
    std::int32_t vm_state = 0;          // int32: ~VmStates, or the number of the trace that runs
    std::int32_t current_state = 0;     // cur_L
    std::int32_t jit_base = 0;          // not 0: the innermost C frame is inside a trace
    std::int32_t jit_state = 0;         // J
    std::int32_t jit_traces = 0;        // J.trace: an array of references, by number
    std::int32_t jit_parent_trace = 0;  // J.parent, uint32: which trace was left
    std::int32_t jit_exit_number = 0;   // J.exitno, uint32: and where

    std::int32_t trace_machine_code = 0;  // (8) GCtrace.mcode
    std::int32_t function_pc = 0;         // GCfunc.pc: where its bytecode begins
    std::int32_t function_c = 0;          // (8) GCfuncC.f
    // GCproto.k as seen from the bytecode, which follows the GCproto: less than 0.
    std::int32_t prototype_constants = 0;
};

// Addresses in the VM's code.
struct VmPlaces {
    // All the assembly up to lj_vm_ffi_call, which is a function like any other.
    std::uint64_t begin_file_vaddr = 0;
    std::uint64_t end_file_vaddr = 0;

    // Entries from C: where four registers, or six, are pushed; and from where on
    // lua_State.cframe is rsp.
    std::uint64_t resume_file_vaddr = 0;
    std::uint64_t resume_linked_file_vaddr = 0;
    std::uint64_t pcall_file_vaddr = 0;  // goes on in lj_vm_call
    std::uint64_t call_file_vaddr = 0;
    std::uint64_t call_linked_file_vaddr = 0;
    std::uint64_t cpcall_file_vaddr = 0;
    std::uint64_t cpcall_linked_file_vaddr = 0;
    std::uint64_t callback_file_vaddr = 0;  // of FFI; rbp is pushed already. 0: without FFI

    // Ways back to C: from where on lua_State.cframe is the outer one; then rsp is raised and the
    // registers popped, at the end of which is a ret, or a jmp to lj_err_throw.
    std::uint64_t unlinked_file_vaddr = 0;
    std::uint64_t leave_file_vaddr = 0;
    std::uint64_t rethrow_file_vaddr = 0;
    // Errors come in by calls with a C frame as argument, which is rsp from `landed` on.
    std::uint64_t unwind_c_file_vaddr = 0;
    std::uint64_t unwind_c_landed_file_vaddr = 0;
    std::uint64_t unwind_ff_file_vaddr = 0;
    std::uint64_t unwind_ff_landed_file_vaddr = 0;

    // Called by the assembly itself: a step of the GC, which takes its return address off the stack
    // and pushes it again before its ret; and arithmetic, called from C and from traces, too.
    std::uint64_t gc_step_file_vaddr = 0;
    std::uint64_t gc_step_return_file_vaddr = 0;  // the push
    std::uint64_t gc_step_end_file_vaddr = 0;
    std::uint64_t helpers_begin_file_vaddr = 0;
    std::uint64_t cpuid_push_file_vaddr = 0;  // one of the helpers has rbx on the stack meanwhile
    std::uint64_t cpuid_pop_file_vaddr = 0;
    std::uint64_t helpers_end_file_vaddr = 0;

    // Into a trace: rsp is 16 lower up to the end of the jump.
    std::uint64_t trace_entry_lowered_file_vaddr = 0;
    std::uint64_t trace_entry_end_file_vaddr = 0;
    // Out of one: from the exit handler on, only lua_State.cframe leads to the C frame, until it is
    // in rcx. A trace that ends comes in at exit_interp, with an rsp that is 16 lower.
    std::uint64_t exit_handler_file_vaddr = 0;
    std::uint64_t trace_exit_return_file_vaddr = 0;  // behind the call of lj_trace_exit
    std::uint64_t exit_in_rcx_file_vaddr = 0;
    std::uint64_t exit_landed_file_vaddr = 0;  // with 32-bit references it is rsp from here on
    std::uint64_t exit_interp_file_vaddr = 0;
    std::uint64_t exit_joined_file_vaddr = 0;  // in rcx or in rsp, whichever way it came here
    std::uint64_t exit_done_file_vaddr = 0;    // in rsp
    std::uint64_t trace_exit_file_vaddr = 0;   // lj_trace_exit, a C function

    std::uint64_t ffi_call_file_vaddr = 0;  // 0: without FFI
    std::uint64_t ffi_call_leave_file_vaddr = 0;
    std::uint64_t ffi_call_end_file_vaddr = 0;
};

// One build of LuaJIT as a walk from outside needs to know it.
struct VmLayout {
    bool is_gc64 = false;
    bool saves_six_registers = false;  // built with LUAJIT_NO_UNWIND: r13 and r12, too
    VmStates states = VmStates::kUpstream;
    std::int32_t cframe_bytes = 0;  // from rsp to the CFA
    VmOffsets offsets;
    VmPlaces places;
};

}  // namespace bobbin::luajit
