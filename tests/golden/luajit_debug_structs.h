// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace bobbin::test {

struct DebugStruct {
    std::int64_t size_bytes = 0;
    std::map<std::string, std::int64_t> members;  // their offsets
};

// The structures of a C program by name, as libdw reads its DWARF. Where several have one name, the
// first.
std::map<std::string, DebugStruct> read_debug_structs(const std::string& path);

}  // namespace bobbin::test
