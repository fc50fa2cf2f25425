// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "luajit/vm_layout.h"

namespace bobbin::luajit {

// Whether values and places agree with each other, as they do in every build of LuaJIT 2.1 since
// its third beta (2017), whoever made it. Error: the first that does not.
Result<> check_layout(const VmLayout& layout);

}  // namespace bobbin::luajit
