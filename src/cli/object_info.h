// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"
#include "cli/luajit_info.h"
#include "elf/elf_file.h"
#include "executable/read_unwind_rows.h"

namespace bobbin::cli {

// What bobbin knows of one ELF file and what its unwind table would take.
struct ObjectInfo {
    std::string path;
    elf::BuildId build_id;
    bool position_independent = false;
    std::vector<elf::LoadSegment> segments;
    std::uint64_t function_symbol_count = 0;

    std::vector<executable::RowSource> sources;
    std::uint64_t row_count = 0;
    std::uint64_t distinct_rule_count = 0;
    std::uint64_t table_entry_count = 0;
    std::uint64_t table_bytes = 0;
    std::uint32_t granule_shift = 0;
    std::uint64_t rules_dropped = 0;
    std::string no_unwind_reason;  // why the numbers above are short or zero; empty: they are not

    LuajitInfo luajit;
};

Result<ObjectInfo> read_object_info(const std::string& path);
std::string describe(const ObjectInfo& info);
std::string to_json(const ObjectInfo& info);

// Prints to standard output, errors to standard error; gives the exit status.
int run_object_info(const ObjectInfoCommand& command);

}  // namespace bobbin::cli
