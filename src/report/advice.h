// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "report/explain.h"

namespace bobbin::report {

// What is known of a module's file on the machine that the advice is given on.
struct FileFacts {
    std::string package;          // of Debian, that owns the file; empty: none, or not asked
    bool has_debug_file = false;  // by its build id, below /usr/lib/debug
    std::string kernel_release;   // as `uname -r`; empty: not known
    bool was_asked = false;       // false: only what needs no look at the machine is known
};

// What one does about a problem.
struct Advice {
    std::string text;  // what helps and why, in few words
    std::string run;   // to paste; empty: nothing that one could type
};

Advice advise(const Problem& problem, const ModuleFacts& module, const FileFacts& file);

// The package of debugging information that belongs to a package: libc6 -> libc6-dbg, else
// NAME-dbgsym, as dh_strip of Debian makes them.
std::string debug_package_of(std::string_view package);

}  // namespace bobbin::report
