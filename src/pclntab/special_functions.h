// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pclntab/function_table.h"

namespace bobbin::pclntab {

// Functions of the runtime whose stack depth alone does not lead to the caller. All are written in
// assembly: runtime/asm_amd64.s, runtime/sys_linux_amd64.s.
enum class Treatment : std::uint8_t {
    kByDepth,             // every other function
    kBottom,              // nobody called it
    kOtherStack,          // leaves its stack, and nothing says where the caller's frame is
    kByFramePointer,      // leaves its stack, with rbp still pointing into its own frame
    kSignalTrampoline,    // the handler returns to it; the interrupted registers lie at rsp
    kReturnAddressInR12,  // pops its return address, since a vfork child would overwrite it
};

Treatment treatment_of(const FunctionTable& table, const Function& function);

}  // namespace bobbin::pclntab
