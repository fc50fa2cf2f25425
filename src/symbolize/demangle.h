// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bobbin::symbolize {

// Names in a file are hostile: thirty substitutions of one C++ name can print a gigabyte.
inline constexpr std::size_t kMaxMangledBytes = 4096;
inline constexpr std::size_t kMaxDemangledBytes = 16384;

enum class DemangleStyle : std::uint8_t {
    kNone,        // as in the symbol table
    kSimplified,  // C++ and D without parameters, return types and [clone ...]; templates stay
    kFull,        // all that the name says
};

// The name as its programmer wrote it: C++ (Itanium ABI), Rust (legacy without its hash, and v0)
// and D; of a PLT stub (`_Z3foov@plt`) what stands before `@plt`. Any other name (Swift's too: no
// library of Debian's reads those), and one that is malformed or beyond the limits, comes back as
// it was. Bounded, but the library has had faults: the agent has it done by its worker.
std::string demangle(const std::string& system_name,
                     DemangleStyle style = DemangleStyle::kSimplified);

// False: demangle() would give it back as it is.
bool may_be_mangled(std::string_view system_name);

// The names for people of names as in symbol tables: as many, or none at all.
using DemangleNames =
    std::function<std::vector<std::string>(std::span<const std::string> system_names)>;
std::vector<std::string> demangle_in_this_process(std::span<const std::string> system_names);

}  // namespace bobbin::symbolize
