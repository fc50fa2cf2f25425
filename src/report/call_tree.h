// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/grouping.h"
#include "report/weight.h"
#include "symbolize/named_profile.h"

namespace bobbin::report {

struct TreeNode {
    static constexpr std::size_t kNoParent = SIZE_MAX;

    Group group;                     // of the first level: a process's name
    std::size_t parent = kNoParent;  // index
    std::uint32_t depth = 0;
    Weight self;
    Weight total;
};

struct CallTree {
    std::vector<TreeNode> nodes;  // a node, then what is below it; siblings: most first
    bool is_cut = false;          // nodes are missing because they would be too many or too deep
};

struct TreeLimits {
    std::uint64_t min_value = 1;  // below this, a node is not shown
    std::size_t max_nodes = 300;  // the heaviest are kept
    std::uint32_t max_depth = 256;
};

// Who called whom, from the processes down, in every stack's own order. `by` groups frames.
CallTree make_call_tree(const symbolize::NamedProfile& profile, By by, const TreeLimits& limits);

}  // namespace bobbin::report
