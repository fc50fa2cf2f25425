// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bobbin::symbolize {

// The build id, in lower-case hex, among ELF notes (gABI chapter 5, "Note Section"); empty: none.
std::string find_build_id(std::span<const std::byte> notes);

// Of the running kernel ("") or of one of its modules ("[nf_tables]"), as sysfs shows it; empty
// where it shows none, such as for "[bpf]".
std::string kernel_build_id(const std::string& module, const std::string& sysfs = "/sys");

}  // namespace bobbin::symbolize
