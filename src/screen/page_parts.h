// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/function_table.h"
#include "screen/flame.h"
#include "screen/frame.h"
#include "screen/rows.h"
#include "screen/snapshot.h"

namespace bobbin::screen {

// The parts of a page, each line as wide as the screen at most. What does not fit is left out from
// the least important on.

// One or two lines: time, samples, CPUs, complete stacks, lost ticks, own cost. nullptr: no samples
// yet.
std::vector<std::string> draw_head(const Snapshot* snapshot, bool is_paused, Size size, Look look);

struct TablePart {
    std::span<const Row> rows;
    std::size_t first_row = 0;
    std::uint64_t sample_count = 0;  // that shares are of
    bool is_of_processes = false;
    report::Sort sort = report::Sort::kSelf;
};
// Titles and as many rows as fit.
std::vector<std::string> draw_table(const TablePart& table, Size size, Look look);

// Boxes, and at the bottom what the selected one is.
std::vector<std::string> draw_flame_part(const FlameGraph& graph, const FlameView& view, Size size,
                                         Look look);

std::vector<std::string> draw_help(Size size, Look look);

// Behind what stands in `line` already: which keys do what.
std::string draw_hints(Line line, bool is_flame);

}  // namespace bobbin::screen
