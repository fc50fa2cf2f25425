// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dwarf/unit.h"

namespace bobbin::dwarf {

// The unit that a skeleton stands for, by its id: in a .dwo file, or in a package of many (.dwp)
// whose index says where its parts are (DWARF 5 section 7.3.5, and GNU's version 2).
std::optional<Unit> find_split_unit(DebugFile& dwo, const Unit& skeleton);
std::optional<Unit> find_packaged_unit(DebugFile& package, const Unit& skeleton);

}  // namespace bobbin::dwarf
