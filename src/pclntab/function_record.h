// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "pclntab/function_table.h"

namespace bobbin::pclntab {

// Which numbers a version of Go gave the tables of inlined calls, and their layout:
// runtime/symtab.go up to 1.22, then symtabinl.go (inlinedCall); runtime/funcdata.h.
struct InlineLayout {
    std::uint32_t index_table = 2;  // PCDATA_InlTreeIndex
    std::uint32_t tree = 3;         // FUNCDATA_InlTree
    bool has_addresses = false;     // of trees; else their offsets from go:func.*
    std::uint32_t call_bytes = 16;  // of an inlinedCall; where its fields stand
    std::uint32_t name_at = 4;
    std::uint32_t parent_pc_at = 8;
};

// Go 1.12 to 1.15 share one magic number and differ in their numbers: `has_build_info` says whether
// the program has a .go.buildinfo, as it has since 1.13. Before 1.12 inlined calls are not known.
InlineLayout inline_layout(Version version, bool has_build_info);

// What the runtime's _func says of names and lines. 0 is the offset of no table.
struct FunctionRecord {
    std::uint32_t files_offset = 0;  // pcfile
    std::uint32_t lines_offset = 0;  // pcln
    std::uint32_t unit_offset = 0;   // cuOffset
    std::uint32_t inline_index_offset = 0;
    std::optional<std::uint64_t> inline_tree;  // address or offset, by the layout
};

// nullopt: it leaves the section.
std::optional<FunctionRecord> read_function_record(const FunctionTable& table,
                                                   const Function& function,
                                                   const InlineLayout& layout);

}  // namespace bobbin::pclntab
