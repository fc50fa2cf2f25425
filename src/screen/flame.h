// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/call_tree.h"
#include "screen/frame.h"

namespace bobbin::screen {

// The hottest paths as boxes that hang below each other, the root on top.
struct FlameGraph {
    static constexpr std::size_t kMaxNodes = 4000;

    report::CallTree tree;
    std::uint64_t total_count = 0;
    std::vector<std::vector<std::size_t>> children;  // by node, most first
    std::vector<std::size_t> roots;
};
FlameGraph make_flame_graph(const symbolize::NamedProfile& profile);

// A place in a graph, from the root; names last while graphs come and go. Empty: all of it.
using FlamePath = std::vector<std::string>;

struct FlameView {
    FlamePath zoom;    // fills the whole width; those above it, too
    FlamePath cursor;  // below `zoom`, it, or above it
};

enum class FlameStep : std::uint8_t { kUp, kDown, kLeft, kRight };

// Moves the cursor to what is above, below (the heaviest), or beside it. Stays where there is none.
void step(const FlameGraph& graph, FlameStep direction, FlameView& view);
void zoom_in(FlameView& view);   // to the cursor
void zoom_out(FlameView& view);  // one box up; the cursor stays
// What of a path there is in this graph.
FlamePath existing(const FlameGraph& graph, const FlamePath& path);
// nullptr: of the empty path, or none.
const report::TreeNode* find_node(const FlameGraph& graph, const FlamePath& path);

// `size.rows` lines; scrolled so that the cursor is seen.
std::vector<std::string> draw_flame(const FlameGraph& graph, const FlameView& view, Size size,
                                    Look look);

}  // namespace bobbin::screen
