// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "luajit/vm_layout.h"

namespace bobbin::luajit {

// What a value in an instruction counts from.
enum class CountsFrom : std::uint8_t {
    kStructure,
    kDispatch,   // r14, not the global_State
    kNextFetch,  // rbx, which points 4 bytes behind the instruction it has fetched
};

struct OffsetName {
    std::string_view name;
    std::int32_t VmOffsets::* offset;
    CountsFrom from = CountsFrom::kStructure;
};

// Names of values in templates, and of offsets for people.
inline constexpr OffsetName kOffsetNames[] = {
    {"cframe_results", &VmOffsets::cframe_results},
    {"cframe_error_function", &VmOffsets::cframe_error_function},
    {"cframe_state", &VmOffsets::cframe_state},
    {"cframe_pc", &VmOffsets::cframe_pc},
    {"cframe_previous", &VmOffsets::cframe_previous},
    {"state_status", &VmOffsets::state_status},
    {"state_global", &VmOffsets::state_global},
    {"state_base", &VmOffsets::state_base},
    {"state_top", &VmOffsets::state_top},
    {"state_max_stack", &VmOffsets::state_max_stack},
    {"state_stack", &VmOffsets::state_stack},
    {"state_cframe", &VmOffsets::state_cframe},
    {"dispatch", &VmOffsets::dispatch},
    {"vm_state", &VmOffsets::vm_state, CountsFrom::kDispatch},
    {"current_state", &VmOffsets::current_state, CountsFrom::kDispatch},
    {"jit_base", &VmOffsets::jit_base, CountsFrom::kDispatch},
    {"jit_state", &VmOffsets::jit_state, CountsFrom::kDispatch},
    {"jit_traces", &VmOffsets::jit_traces, CountsFrom::kDispatch},
    {"jit_parent_trace", &VmOffsets::jit_parent_trace, CountsFrom::kDispatch},
    {"jit_exit_number", &VmOffsets::jit_exit_number, CountsFrom::kDispatch},
    {"trace_machine_code", &VmOffsets::trace_machine_code},
    {"function_pc", &VmOffsets::function_pc},
    {"function_c", &VmOffsets::function_c},
    {"prototype_constants", &VmOffsets::prototype_constants, CountsFrom::kNextFetch},
};

struct PlaceName {
    std::string_view name;
    std::uint64_t VmPlaces::* file_vaddr;
};

// Names of places in templates.
inline constexpr PlaceName kPlaceNames[] = {
    {"resume", &VmPlaces::resume_file_vaddr},
    {"resume_linked", &VmPlaces::resume_linked_file_vaddr},
    {"pcall", &VmPlaces::pcall_file_vaddr},
    {"call", &VmPlaces::call_file_vaddr},
    {"call_linked", &VmPlaces::call_linked_file_vaddr},
    {"cpcall", &VmPlaces::cpcall_file_vaddr},
    {"cpcall_linked", &VmPlaces::cpcall_linked_file_vaddr},
    {"callback", &VmPlaces::callback_file_vaddr},
    {"unlinked", &VmPlaces::unlinked_file_vaddr},
    {"leave", &VmPlaces::leave_file_vaddr},
    {"rethrow", &VmPlaces::rethrow_file_vaddr},
    {"unwind_c", &VmPlaces::unwind_c_file_vaddr},
    {"unwind_c_landed", &VmPlaces::unwind_c_landed_file_vaddr},
    {"unwind_ff", &VmPlaces::unwind_ff_file_vaddr},
    {"unwind_ff_landed", &VmPlaces::unwind_ff_landed_file_vaddr},
    {"gc_step", &VmPlaces::gc_step_file_vaddr},
    {"gc_step_return", &VmPlaces::gc_step_return_file_vaddr},
    {"gc_step_end", &VmPlaces::gc_step_end_file_vaddr},
    {"helpers_begin", &VmPlaces::helpers_begin_file_vaddr},
    {"cpuid_push", &VmPlaces::cpuid_push_file_vaddr},
    {"cpuid_pop", &VmPlaces::cpuid_pop_file_vaddr},
    {"trace_entry_lowered", &VmPlaces::trace_entry_lowered_file_vaddr},
    {"trace_entry_end", &VmPlaces::trace_entry_end_file_vaddr},
    {"exit_handler", &VmPlaces::exit_handler_file_vaddr},
    {"trace_exit_return", &VmPlaces::trace_exit_return_file_vaddr},
    {"exit_in_rcx", &VmPlaces::exit_in_rcx_file_vaddr},
    {"exit_landed", &VmPlaces::exit_landed_file_vaddr},
    {"exit_interp", &VmPlaces::exit_interp_file_vaddr},
    {"exit_joined", &VmPlaces::exit_joined_file_vaddr},
    {"exit_done", &VmPlaces::exit_done_file_vaddr},
    {"ffi_call", &VmPlaces::ffi_call_file_vaddr},
    {"ffi_call_leave", &VmPlaces::ffi_call_leave_file_vaddr},
    {"ffi_call_end", &VmPlaces::ffi_call_end_file_vaddr},
};

}  // namespace bobbin::luajit
