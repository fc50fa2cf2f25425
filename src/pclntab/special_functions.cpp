// SPDX-License-Identifier: Apache-2.0
#include "pclntab/special_functions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace bobbin::pclntab {
namespace {

struct Special {
    std::string_view name;
    Treatment treatment;
};

// By name: funcID has other numbers in each version (1.19: systemstack is 19, 1.26: 21), and none
// for most of these.
constexpr std::array kSpecials = {
    // The kernel begins _rt0_amd64_linux; rt0_go and mstart set rbp to 0; goexit is what a
    // goroutine's first function returns to.
    Special{"_rt0_amd64_linux", Treatment::kBottom},
    Special{"_rt0_amd64", Treatment::kBottom},
    Special{"runtime.rt0_go", Treatment::kBottom},
    Special{"runtime.mstart", Treatment::kBottom},
    Special{"runtime.goexit", Treatment::kBottom},

    // mcall and morestack leave the goroutine, with rbp set to 0, and gogo enters one: another
    // thread may run it meanwhile. A child of clone begins on a stack of its own.
    Special{"gogo", Treatment::kOtherStack},
    Special{"runtime.gogo", Treatment::kOtherStack},
    Special{"runtime.mcall", Treatment::kOtherStack},
    Special{"runtime.morestack", Treatment::kOtherStack},
    Special{"runtime.switchToCrashStack0", Treatment::kOtherStack},
    Special{"runtime.clone", Treatment::kOtherStack},
    Special{"runtime.cgocallback_gofunc", Treatment::kOtherStack},  // up to 1.15
    Special{"runtime.racecall", Treatment::kOtherStack},
    Special{"racecall", Treatment::kOtherStack},

    // These run something on the thread's own stack, g0, and come back.
    // Go 1.26: "The original frame pointer is stored in BP, which is useful for stack unwinding."
    Special{"runtime.systemstack", Treatment::kByFramePointer},
    Special{"runtime.asmcgocall", Treatment::kByFramePointer},
    Special{"runtime.asmcgocall_no_g", Treatment::kByFramePointer},
    Special{"runtime.nanotime1", Treatment::kByFramePointer},
    Special{"runtime.walltime", Treatment::kByFramePointer},
    Special{"runtime.walltime1", Treatment::kByFramePointer},
    Special{"time.now", Treatment::kByFramePointer},
    // The other way: from C on g0 to the goroutine. rbp stays on g0, so the way leads through the
    // C frames in between; the runtime's own traceback leaves these out.
    Special{"runtime.cgocallback", Treatment::kByFramePointer},
    // These align rsp for C.
    Special{"runtime.vgetrandom1", Treatment::kByFramePointer},
    Special{"runtime.sigfwd", Treatment::kByFramePointer},
    Special{"runtime.callCgoSigaction", Treatment::kByFramePointer},
    Special{"runtime.callCgoMmap", Treatment::kByFramePointer},
    Special{"runtime.callCgoMunmap", Treatment::kByFramePointer},

    // The kernel calls it, so the runtime has it for a top frame; its depths are right.
    Special{"runtime.sigtramp", Treatment::kByDepth},
    Special{"runtime.sigreturn", Treatment::kSignalTrampoline},
    Special{"runtime.sigreturn__sigaction", Treatment::kSignalTrampoline},

    Special{"syscall.rawVforkSyscall", Treatment::kReturnAddressInR12},
};

// Where names were removed, and for the assembly of others.
Treatment by_flags(std::uint8_t flags) {
    if ((flags & kTopFrame) != 0) return Treatment::kBottom;
    if ((flags & kWritesSp) != 0) return Treatment::kOtherStack;
    return Treatment::kByDepth;
}

}  // namespace

Treatment treatment_of(const FunctionTable& table, const Function& function) {
    // The compiler's wrappers have the names of what they wrap, but are functions like others.
    const bool marks_assembly = table.version() >= Version::kGo120;
    if (marks_assembly && function.flags == 0) return Treatment::kByDepth;
    const auto* const special =
        std::ranges::find(kSpecials, table.name_of(function), &Special::name);
    if (special == kSpecials.end()) return by_flags(function.flags);
    // What rbp holds there was looked up for the versions since 1.18.
    if (special->treatment == Treatment::kByFramePointer && table.version() < Version::kGo118) {
        return Treatment::kOtherStack;
    }
    return special->treatment;
}

}  // namespace bobbin::pclntab
