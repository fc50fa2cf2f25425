// SPDX-License-Identifier: Apache-2.0
#include "screen/flame.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "screen/rows.h"

namespace bobbin::screen {
namespace {

// In the place of a node: what all roots hang from.
constexpr std::size_t kAll = report::TreeNode::kNoParent;

// NUL is in no name.
std::string key_of(const report::TreeNode& node) {
    return node.group.name + '\0' + node.group.module;
}

std::span<const std::size_t> children_of(const FlameGraph& graph, std::size_t node) {
    return node == kAll ? std::span(graph.roots) : std::span(graph.children[node]);
}

// kAll: there is none.
std::size_t child_named(const FlameGraph& graph, std::size_t parent, const std::string& key) {
    for (const std::size_t child : children_of(graph, parent)) {
        if (key_of(graph.tree.nodes[child]) == key) return child;
    }
    return kAll;
}

// The nodes of a path, as far as they are there.
std::vector<std::size_t> nodes_of(const FlameGraph& graph, const FlamePath& path) {
    std::vector<std::size_t> nodes;
    std::size_t node = kAll;
    for (const std::string& key : path) {
        node = child_named(graph, node, key);
        if (node == kAll) break;
        nodes.push_back(node);
    }
    return nodes;
}

struct Box {
    std::size_t node = kAll;
    std::size_t column = 0;
    std::size_t columns = 0;
};

// One line's boxes from the line above: children side by side from their parent's left edge, as
// wide as their share of it, those that are narrower than a column left out.
void add_boxes_below(const FlameGraph& graph, const Box& parent, std::vector<Box>& boxes) {
    const std::uint64_t whole =
        parent.node == kAll ? graph.total_count : graph.tree.nodes[parent.node].total.count;
    std::uint64_t before = 0;
    for (const std::size_t child : children_of(graph, parent.node)) {
        const std::size_t begin = parent.columns * before / whole;
        before += graph.tree.nodes[child].total.count;
        const std::size_t end = parent.columns * before / whole;
        if (end == begin) continue;
        boxes.push_back({.node = child, .column = parent.column + begin, .columns = end - begin});
    }
}

std::vector<Box> boxes_below(const FlameGraph& graph, std::span<const Box> above) {
    std::vector<Box> boxes;
    for (const Box& parent : above) add_boxes_below(graph, parent, boxes);
    return boxes;
}

Style style_of(const report::TreeNode& node) {
    if (node.group.is_kernel) return Style::kKernelFlame;
    constexpr std::array kStyles{Style::kFlame0, Style::kFlame1, Style::kFlame2};
    return kStyles.at(std::hash<std::string>{}(node.group.name) % kStyles.size());
}

std::string draw_line(const FlameGraph& graph, std::span<const Box> boxes, std::size_t cursor,
                      Size size, Look look) {
    Line line(look, size.columns);
    for (const Box& box : boxes) {
        line.fill_to(box.column);
        const bool is_selected = box.node == cursor;
        const std::string name = box.node == kAll ? "all" : graph.tree.nodes[box.node].group.name;
        Style style = box.node == kAll ? Style::kFlame0 : style_of(graph.tree.nodes[box.node]);
        if (is_selected) style = Style::kSelected;
        // Without colours, and between boxes of one colour, an edge tells them apart.
        line.add_left(look.utf8 ? "▏" : "|", 1, style);
        if (box.columns > 1) line.add_left(name, box.columns - 1, style);
    }
    return line.text();
}

// The first line of boxes to be shown: the cursor's is among the `rows` from there.
std::size_t first_line(std::size_t cursor_depth, std::size_t rows) {
    return cursor_depth < rows ? 0 : cursor_depth - rows + 1;
}

}  // namespace

FlameGraph make_flame_graph(const symbolize::NamedProfile& profile) {
    FlameGraph graph{
        .tree = report::make_call_tree(profile, report::By::kFunction,
                                       {.min_value = 1, .max_nodes = FlameGraph::kMaxNodes})};
    graph.total_count = report::weight_of(profile).count;
    graph.children.resize(graph.tree.nodes.size());
    for (std::size_t i = 0; i < graph.tree.nodes.size(); ++i) {
        const std::size_t parent = graph.tree.nodes[i].parent;
        if (parent == report::TreeNode::kNoParent) {
            graph.roots.push_back(i);
        } else {
            graph.children[parent].push_back(i);
        }
    }
    return graph;
}

FlamePath existing(const FlameGraph& graph, const FlamePath& path) {
    const std::size_t count = nodes_of(graph, path).size();
    return {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(count)};
}

const report::TreeNode* find_node(const FlameGraph& graph, const FlamePath& path) {
    const std::vector<std::size_t> nodes = nodes_of(graph, path);
    if (nodes.size() != path.size() || nodes.empty()) return nullptr;
    return &graph.tree.nodes[nodes.back()];
}

void step(const FlameGraph& graph, FlameStep direction, FlameView& view) {
    view.cursor = existing(graph, view.cursor);
    const std::vector<std::size_t> nodes = nodes_of(graph, view.cursor);
    const auto at = [&](std::size_t depth) { return depth == 0 ? kAll : nodes[depth - 1]; };
    const std::size_t depth = nodes.size();
    if (direction == FlameStep::kDown) {
        const auto children = children_of(graph, at(depth));
        if (!children.empty()) view.cursor.push_back(key_of(graph.tree.nodes[children.front()]));
        return;
    }
    if (depth == 0) return;
    if (direction == FlameStep::kUp) {
        view.cursor.pop_back();
        return;
    }
    // What is beside the zoomed box, or beside those above it, is not shown.
    if (depth <= nodes_of(graph, view.zoom).size()) return;
    const auto siblings = children_of(graph, at(depth - 1));
    const auto self = std::ranges::find(siblings, nodes.back());
    const auto index = static_cast<std::size_t>(self - siblings.begin());
    const std::size_t next = direction == FlameStep::kLeft ? index - 1 : index + 1;
    if (next < siblings.size()) view.cursor.back() = key_of(graph.tree.nodes[siblings[next]]);
}

void zoom_in(FlameView& view) { view.zoom = view.cursor; }

void zoom_out(FlameView& view) {
    if (!view.zoom.empty()) view.zoom.pop_back();
}

std::vector<std::string> draw_flame(const FlameGraph& graph, const FlameView& view, Size size,
                                    Look look) {
    const std::vector<std::size_t> zoomed = nodes_of(graph, view.zoom);
    const std::vector<std::size_t> cursor = nodes_of(graph, view.cursor);
    const std::size_t selected = cursor.empty() ? kAll : cursor.back();
    const std::size_t first = first_line(cursor.size(), size.rows);
    std::vector<std::string> lines;
    std::vector<Box> boxes{{.node = kAll, .column = 0, .columns = size.columns}};
    for (std::size_t depth = 0; lines.size() < size.rows && !boxes.empty(); ++depth) {
        if (depth >= first) lines.push_back(draw_line(graph, boxes, selected, size, look));
        if (graph.total_count == 0) break;
        if (depth < zoomed.size()) {
            boxes = {{.node = zoomed[depth], .column = 0, .columns = size.columns}};
        } else {
            boxes = boxes_below(graph, boxes);
        }
    }
    return lines;
}

}  // namespace bobbin::screen
