// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cfi/unwind_row.h"
#include "luajit/vm_layout.h"

namespace bobbin::luajit {

// Rows for the VM's assembly, for which compilers of LuaJIT write a single one, or none. That one
// is right only while rsp is the C frame; these are exact at each instruction:
//   entries from C, ways back       the registers that are pushed at that point
//   lj_vm_floor and its like        functions of their own, called by whoever
//   into and out of a trace         the C frame, 16 bytes up or in rcx
//   the exit handler                an expression: its caller is a trace, and no frame of fixed
//                                   size; only lua_State.cframe leads on
// With lj_vm_ffi_call where there is FFI. `layout` is one that read_layout() gave. They are meant
// to stand before what the file says (cfi::merge_rows).
cfi::UnwindRows make_unwind_rows(const VmLayout& layout);

}  // namespace bobbin::luajit
