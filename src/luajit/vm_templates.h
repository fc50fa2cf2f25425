// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "luajit/code_template.h"

namespace bobbin::luajit {

// lj_vm_call, which has what a build is told by: there is one in every VM, and it is where a search
// of an executable begins.
extern const CodeTemplate kVmCall;

// Where the first instruction handler begins, and so the assembly.
extern const CodeTemplate kFirstHandler;

// All the others.
std::span<const CodeTemplate> vm_templates();

}  // namespace bobbin::luajit
