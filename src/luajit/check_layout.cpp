// SPDX-License-Identifier: Apache-2.0
#include "luajit/check_layout.h"

#include <cstdint>
#include <string_view>

#include "luajit/read_layout.h"

namespace bobbin::luajit {
namespace {

struct Relation {
    std::string_view text;
    bool holds;
};

Result<> check_all(std::initializer_list<Relation> relations) {
    for (const Relation& relation : relations) {
        if (!relation.holds) return fail("it does not hold that {}", relation.text);
    }
    return {};
}

// In the C frame, without the registers saved above.
bool lies_in_frame(const VmLayout& layout, std::int32_t offset) {
    return offset >= 0 && offset < layout.cframe_bytes - 5 * 8;
}

Result<> check_cframe(const VmLayout& layout) {
    const VmOffsets& at = layout.offsets;
    return check_all({
        {"a C frame has 80 or 96 bytes", layout.cframe_bytes == 80 || layout.cframe_bytes == 96},
        {"the lua_State lies in it", lies_in_frame(layout, at.cframe_state)},
        {"the bytecode pc lies in it", lies_in_frame(layout, at.cframe_pc)},
        {"the outer one lies in it", lies_in_frame(layout, at.cframe_previous)},
        {"the number of results lies in it", lies_in_frame(layout, at.cframe_results)},
        {"the error function follows that", at.cframe_error_function == at.cframe_results + 4},
    });
}

// lj_obj.h: GChead, lua_State, GCfuncL and GCfuncC, GCproto.
Result<> check_objects(const VmLayout& layout) {
    const VmOffsets& at = layout.offsets;
    const std::int32_t reference = layout.is_gc64 ? 8 : 4;
    return check_all({
        {"status is a coroutine's fourth byte", at.state_status == reference + 3},
        {"the global_State follows its header", at.state_global == 2 * reference},
        {"top follows base", at.state_top == at.state_base + 8},
        {"the stack's end follows top", at.state_max_stack == at.state_top + 8},
        {"its begin follows that", at.state_stack == at.state_max_stack + reference},
        {"the C frame comes behind", at.state_cframe > at.state_stack},
        {"a function's bytecode is its fifth word", at.function_pc == 4 * reference},
        {"what a C function is follows that", at.function_c == at.function_pc + 8},
        {"a GCproto has 104 or 64 bytes",
         at.prototype_constants == (layout.is_gc64 ? 32 - 104 : 16 - 64)},
        {"a trace has its code within 128 bytes",
         at.trace_machine_code > 0 && at.trace_machine_code < 128},
    });
}

// lj_dispatch.h: GG_State has the global_State, the jit_State, hot counters and what r14 points to.
Result<> check_global(const VmLayout& layout) {
    constexpr std::int32_t kHotCounterBytes = 64 * 2;
    const VmOffsets& at = layout.offsets;
    return check_all({
        {"vmstate lies in the global_State", at.vm_state > 0},
        {"cur_L follows vmstate", at.current_state > at.vm_state},
        {"jit_base follows cur_L", at.jit_base > at.current_state},
        {"the jit_State follows jit_base", at.jit_state > at.jit_base},
        {"the traces lie in the jit_State", at.jit_traces > at.jit_state},
        {"the parent trace follows the traces", at.jit_parent_trace > at.jit_traces},
        {"the exit number follows that", at.jit_exit_number == at.jit_parent_trace + 4},
        {"the dispatch table comes last", at.dispatch >= at.jit_exit_number + 4 + kHotCounterBytes},
    });
}

// vm_x64.dasc and vm_x86.dasc: instruction handlers first, then the rest in this order.
Result<> check_places(const VmPlaces& at) {
    const std::uint64_t in_order[] = {
        at.begin_file_vaddr,           at.trace_entry_lowered_file_vaddr,
        at.trace_entry_end_file_vaddr, at.unlinked_file_vaddr,
        at.leave_file_vaddr + 1,       at.unwind_c_file_vaddr,
        at.unwind_c_landed_file_vaddr, at.rethrow_file_vaddr,
        at.unwind_ff_file_vaddr,       at.unwind_ff_landed_file_vaddr,
        at.resume_file_vaddr,          at.resume_linked_file_vaddr,
        at.pcall_file_vaddr,           at.call_file_vaddr,
        at.call_linked_file_vaddr,     at.cpcall_file_vaddr,
        at.cpcall_linked_file_vaddr,   at.gc_step_file_vaddr,
        at.gc_step_return_file_vaddr,  at.gc_step_end_file_vaddr,
        at.exit_handler_file_vaddr,    at.trace_exit_return_file_vaddr,
        at.exit_in_rcx_file_vaddr,     at.exit_joined_file_vaddr,
        at.helpers_begin_file_vaddr,   at.cpuid_push_file_vaddr,
        at.cpuid_pop_file_vaddr,       at.helpers_end_file_vaddr};
    std::uint64_t before = 0;
    bool ascends = true;
    for (const std::uint64_t file_vaddr : in_order) {
        ascends = ascends && before < file_vaddr;
        before = file_vaddr;
    }
    const bool has_ffi = at.callback_file_vaddr != 0;
    return check_all({
        {"the places follow each other as in all builds", ascends},
        {"they lie in the assembly", at.helpers_end_file_vaddr <= at.end_file_vaddr},
        {"the assembly has less than 64 KiB",
         at.end_file_vaddr - at.begin_file_vaddr < kMaxAssemblyBytes},
        {"FFI is there as a whole or not at all",
         has_ffi == (at.ffi_call_file_vaddr != 0) &&
             has_ffi == (at.ffi_call_leave_file_vaddr > at.ffi_call_file_vaddr)},
        {"the assembly ends with the callbacks and lj_vm_ffi_call",
         !has_ffi || (at.callback_file_vaddr < at.end_file_vaddr &&
                      at.end_file_vaddr == at.ffi_call_file_vaddr)},
        {"lj_trace_exit is a C function", at.trace_exit_file_vaddr < at.begin_file_vaddr ||
                                              at.trace_exit_file_vaddr >= at.end_file_vaddr},
    });
}

}  // namespace

Result<> check_layout(const VmLayout& layout) {
    BOBBIN_CHECK(check_cframe(layout));
    BOBBIN_CHECK(check_objects(layout));
    BOBBIN_CHECK(check_global(layout));
    return check_places(layout.places);
}

}  // namespace bobbin::luajit
