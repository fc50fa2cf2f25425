// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pclntab/function_table.h"

namespace bobbin::pclntab {

// Where runtime.firstmoduledata begins in `.noptrdata`, in which Go's linker puts it before 1.26
// among other things: by its first two words, the addresses of the function table and of the names
// in it. Since Go 1.16.
std::optional<std::size_t> find_module_data(std::span<const std::byte> section,
                                            const FunctionTable& table,
                                            std::uint64_t table_file_vaddr);

// What the offsets of inlined calls count from (moduledata.gofunc, go:func.*). nullopt: the version
// has addresses instead, before Go 1.18, or the module data are too short.
std::optional<std::uint64_t> read_inline_trees_start(std::span<const std::byte> module_data,
                                                     Version version);

}  // namespace bobbin::pclntab
