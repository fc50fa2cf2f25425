// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace bobbin::symbolize {

// Names in a file are hostile: thirty substitutions of one C++ name can print a gigabyte.
inline constexpr std::size_t kMaxMangledBytes = 4096;
inline constexpr std::size_t kMaxDemangledBytes = 16384;

// The name as its programmer wrote it: C++ (Itanium ABI), Rust (legacy without its hash, and v0)
// and D; of a PLT stub (`_Z3foov@plt`) what stands before `@plt`. The agent does this, bounded but
// not isolated. Any other name, and one that is malformed or beyond the limits, comes back as it
// was.
std::string demangle(const std::string& system_name);

}  // namespace bobbin::symbolize
