// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "unwind_table/simplify_rows.h"

namespace bobbin::bench {

// Layout of lookup.bpf.c.
struct Row {
    std::uint16_t low_offset = 0;
    std::uint16_t code = 0;
    std::uint32_t unused = 0;
};
static_assert(sizeof(Row) == 8);

struct RowPage {
    std::uint64_t page = 0;
    std::uint32_t first_row = 0;
    std::uint32_t end_row = 0;
};

// One executable's unwind information the way that others hold it: a row a rule, found through a
// hash of 64-KiB pages. Every page begins with a row of its own, so that no search leaves it.
struct RowTable {
    std::vector<Row> rows;
    std::vector<RowPage> pages;
};

RowTable make_rows(const unwind_table::Runs& runs, std::uint64_t base_file_offset);

// Fills the two maps; errors are the kernel's.
struct RowMaps {
    int pages_fd = -1;
    int rows_of_executables_fd = -1;
};
Result<> publish_rows(const RowMaps& maps, std::uint32_t executable_id, const RowTable& table);

}  // namespace bobbin::bench
