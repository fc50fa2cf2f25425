// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "aggregate/sample_times.h"

namespace bobbin::profile {

// As in view/model.js.
inline constexpr std::uint32_t kViewKernel = 1;
inline constexpr std::uint32_t kViewInlined = 2;
inline constexpr std::uint32_t kViewUnnamed = 4;
inline constexpr std::uint32_t kViewProcess = 8;
inline constexpr std::uint32_t kViewSmall = 16;

// A function in a module is one frame, whatever its line: the box of the flame graph. It shows the
// line that most samples were at.
class ViewFrames {
public:
    // Name, module, file, flags: numbers of strings.
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

    std::uint32_t number_of(const Key& key);
    void add(std::uint32_t frame, std::uint32_t line, std::uint64_t count) {
        frames_[frame].count_by_line[line] += count;
    }
    // Five words a frame: those of the key, and the line before the flags.
    [[nodiscard]] std::vector<std::uint32_t> words() const;

private:
    struct Frame {
        Key key;
        std::map<std::uint32_t, std::uint64_t> count_by_line;
    };
    static std::uint32_t hottest_line(const Frame& frame);

    std::map<Key, std::uint32_t> number_by_key_;
    std::vector<Frame> frames_;
};

// All stacks as one tree from the roots up; a node comes behind its parent.
class ViewNodes {
public:
    static constexpr std::uint32_t kNoParent = UINT32_MAX;

    std::uint32_t child_of(std::uint32_t parent, std::uint32_t frame);
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] std::uint32_t parent_of(std::uint32_t node) const { return nodes_[node].parent; }
    [[nodiscard]] std::uint32_t frame_of(std::uint32_t node) const { return nodes_[node].frame; }
    // Two words a node: the distance of its parent, 0 where there is none, and its frame.
    [[nodiscard]] std::vector<std::uint32_t> words() const;

private:
    struct Node {
        std::uint32_t parent = kNoParent;
        std::uint32_t frame = 0;
    };
    std::unordered_map<std::uint64_t, std::uint32_t> number_by_place_;
    std::vector<Node> nodes_;
};

struct ViewSample {
    std::uint32_t node = 0;
    std::uint32_t owner = 0;
    std::uint64_t count = 0;
    aggregate::TimeCounts times;
};
using ViewSamples = std::vector<ViewSample>;

// Sorts by node and owner, each pair once.
void merge_samples(ViewSamples& samples);

// What fold_small_nodes() leaves out.
struct SmallNodes {
    std::vector<std::uint32_t> place_of;  // by node: the node kept, or nearest below it
    std::vector<std::uint32_t> count_at;  // by node: how many were left out above it
    std::vector<bool> is_kept;
    std::uint64_t count = 0;
};

// The nodes with less than `least_share` of the samples of every side.
SmallNodes find_small_nodes(const ViewNodes& nodes, const std::vector<ViewSamples>& sides,
                            double least_share);

}  // namespace bobbin::profile
