// SPDX-License-Identifier: Apache-2.0
#include "report/call_tree.h"

#include <algorithm>
#include <compare>
#include <queue>
#include <ranges>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace bobbin::report {
namespace {

// Every stack as a word of group numbers, root first; sorted, the stacks below a node of the tree
// are neighbours. So no tree of all stacks is made: a node is a range, and its children are found
// when it is shown.
class SortedStacks {
public:
    SortedStacks(const symbolize::NamedProfile& profile, By by) : frames_(profile, by) {
        for (const symbolize::NamedStack& stack : profile.stacks) add(stack);
        std::ranges::sort(stacks_, [this](const Stack& a, const Stack& b) {
            return std::ranges::lexicographical_compare(word_of(a), word_of(b));
        });
    }

    struct Stack {
        std::size_t begin = 0;  // in words_
        std::size_t length = 0;
        Weight weight;
    };

    [[nodiscard]] std::span<const Stack> stacks() const { return stacks_; }
    [[nodiscard]] std::uint32_t word_at(const Stack& stack, std::size_t depth) const {
        return words_[stack.begin + depth];
    }
    [[nodiscard]] Group group(std::uint32_t number) const {
        if (number < frames_.groups().size()) return frames_.groups()[number];
        return {.name = process_names_[number - frames_.groups().size()]};
    }

private:
    void add(const symbolize::NamedStack& stack) {
        Stack sorted{.begin = words_.size(), .length = 0, .weight = weight_of(stack)};
        // Programs that say nothing of processes need no level for them.
        if (!stack.labels.comm.empty()) words_.push_back(number_of(stack.labels.comm));
        for (const std::uint32_t location : std::views::reverse(stack.locations)) {
            const auto groups = frames_.of(location);
            words_.insert(words_.end(), groups.rbegin(), groups.rend());
        }
        sorted.length = words_.size() - sorted.begin;
        stacks_.push_back(sorted);
    }

    std::uint32_t number_of(const std::string& process_name) {
        const auto next =
            static_cast<std::uint32_t>(frames_.groups().size() + process_names_.size());
        const auto [found, is_new] = number_by_process_.try_emplace(process_name, next);
        if (is_new) process_names_.push_back(process_name);
        return found->second;
    }

    [[nodiscard]] std::span<const std::uint32_t> word_of(const Stack& stack) const {
        return std::span(words_).subspan(stack.begin, stack.length);
    }

    FrameGroups frames_;
    std::vector<std::string> process_names_;
    std::unordered_map<std::string, std::uint32_t> number_by_process_;
    std::vector<std::uint32_t> words_;
    std::vector<Stack> stacks_;
};

// A node that may be shown: stacks that agree in `depth` + 1 words.
struct Candidate {
    std::span<const SortedStacks::Stack> stacks;
    std::size_t parent = TreeNode::kNoParent;
    std::uint32_t depth = 0;
    Weight self;
    Weight total;

    bool operator<(const Candidate& other) const { return total.value < other.total.value; }
};

class TreeMaker {
public:
    TreeMaker(const symbolize::NamedProfile& profile, By by, const TreeLimits& limits)
        : sorted_(profile, by), limits_(limits) {}

    CallTree make() {
        find_children(sorted_.stacks(), 0, TreeNode::kNoParent);
        while (!candidates_.empty() && nodes_.size() < limits_.max_nodes) {
            const Candidate heaviest = candidates_.top();
            candidates_.pop();
            nodes_.push_back(
                {.group = sorted_.group(sorted_.word_at(heaviest.stacks.front(), heaviest.depth)),
                 .parent = heaviest.parent,
                 .depth = heaviest.depth,
                 .self = heaviest.self,
                 .total = heaviest.total});
            find_children(heaviest.stacks, heaviest.depth + 1, nodes_.size() - 1);
        }
        CallTree tree = in_order();
        tree.is_cut = is_too_deep_ || !candidates_.empty();
        return tree;
    }

private:
    void find_children(std::span<const SortedStacks::Stack> stacks, std::uint32_t depth,
                       std::size_t parent) {
        if (depth == limits_.max_depth) {
            is_too_deep_ = true;
            return;
        }
        for (std::size_t begin = 0; begin < stacks.size();) {
            // Those that end above come first.
            if (stacks[begin].length <= depth) {
                ++begin;
                continue;
            }
            Candidate child{
                .stacks = {}, .parent = parent, .depth = depth, .self = {}, .total = {}};
            const std::uint32_t word = sorted_.word_at(stacks[begin], depth);
            std::size_t end = begin;
            for (; end < stacks.size() && sorted_.word_at(stacks[end], depth) == word; ++end) {
                child.total += stacks[end].weight;
                if (stacks[end].length == depth + 1) child.self += stacks[end].weight;
            }
            child.stacks = stacks.subspan(begin, end - begin);
            if (child.total.value >= limits_.min_value) candidates_.push(child);
            begin = end;
        }
    }

    // Nodes were made heaviest first, so children of one parent are in their order already.
    CallTree in_order() {
        std::vector<std::vector<std::size_t>> children(nodes_.size());
        std::vector<std::size_t> open;  // to be shown, the next one last
        for (std::size_t i = nodes_.size(); i-- > 0;) {
            if (nodes_[i].parent == TreeNode::kNoParent) {
                open.push_back(i);
            } else {
                children[nodes_[i].parent].push_back(i);
            }
        }
        CallTree tree;
        std::vector<std::size_t> place(nodes_.size());
        while (!open.empty()) {
            const std::size_t number = open.back();
            open.pop_back();
            place[number] = tree.nodes.size();
            TreeNode node = std::move(nodes_[number]);
            if (node.parent != TreeNode::kNoParent) node.parent = place[node.parent];
            tree.nodes.push_back(std::move(node));
            open.insert(open.end(), children[number].begin(), children[number].end());
        }
        return tree;
    }

    SortedStacks sorted_;
    TreeLimits limits_;
    std::priority_queue<Candidate> candidates_;
    std::vector<TreeNode> nodes_;
    bool is_too_deep_ = false;
};

}  // namespace

CallTree make_call_tree(const symbolize::NamedProfile& profile, By by, const TreeLimits& limits) {
    return TreeMaker(profile, by, limits).make();
}

}  // namespace bobbin::report
