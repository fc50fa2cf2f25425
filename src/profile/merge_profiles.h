// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "symbolize/named_profile.h"

namespace bobbin::profile {

// Several profiles as one. Mappings, functions and locations are listed once, those that no stack
// refers to not at all; of stacks with the same frames and labels, samples, values and times add
// up. What comes out starts where the earliest starts and ends where the latest ends, so a gap
// between two of them counts as time. Its spans of time are as long as the longest, longer where
// there would be more than TimeSpans::kMaxBuckets of them, and it has no times when a profile with
// samples has none. Its period is the common one, 0 where they differ; a comment that several have
// stands there once.
class ProfileMerger {
public:
    // Beyond `max_stacks` the rarest half keeps of its frames the innermost and of its labels those
    // that do not tell threads and processes apart. Totals stay, and so does self time.
    explicit ProfileMerger(std::size_t max_stacks = SIZE_MAX) : max_stacks_(max_stacks) {}

    void add(const symbolize::NamedProfile& profile);
    // Frees what was added.
    [[nodiscard]] symbolize::NamedProfile take();

    // How many stacks were shortened because of `max_stacks`.
    [[nodiscard]] std::size_t folded_count() const { return folded_count_; }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    // Spans since the start of the first profile that was added; others may have started earlier.
    struct Time {
        std::int32_t span = 0;
        std::uint32_t count = 0;
    };
    struct Stack {
        std::vector<std::uint32_t> locations;  // index; innermost first
        std::uint32_t labels = 0;              // index
        std::vector<std::uint32_t> by_frame_pointer;
        abi::walk_end walk_end = abi::WALK_END_BOTTOM;
        std::uint64_t count = 0;
        std::uint64_t value = 0;
        std::vector<Time> times;  // in the order that they came
    };
    // What has the same text as key is the same.
    using IndexByText = std::unordered_map<std::string, std::uint32_t>;
    // Where things of the profile that is being added are in ours; kNone: not yet.
    struct Places {
        std::vector<std::uint32_t> mappings;
        std::vector<std::uint32_t> functions;
        std::vector<std::uint32_t> locations;
    };

    void add_head(const symbolize::NamedProfile& profile);
    void fit_spans(const symbolize::NamedProfile& profile);
    void lengthen_spans(std::chrono::nanoseconds length);
    std::uint32_t place_mapping(const symbolize::NamedProfile& profile, std::uint32_t index,
                                Places& places);
    std::uint32_t place_function(const symbolize::NamedProfile& profile, std::uint32_t index,
                                 Places& places);
    std::uint32_t place_location(const symbolize::NamedProfile& profile, std::uint32_t index,
                                 Places& places);
    std::uint32_t place_labels(const symbolize::SampleLabels& labels);
    // The one with the same locations, labels and end, which is begun where there is none.
    Stack& stack_like(const Stack& stack);
    void add_stack(const symbolize::NamedProfile& profile, const symbolize::NamedStack& stack,
                   Places& places);
    void fold_rarest();
    void put_back(Stack stack, bool is_shortened);
    // Ascending, each span once.
    static void compact(std::vector<Time>& times);
    symbolize::NamedStack named(Stack& stack, std::int32_t first_span) const;

    std::size_t max_stacks_;
    std::size_t folded_count_ = 0;
    bool is_empty_ = true;
    bool has_times_ = true;
    symbolize::NamedProfile profile_;  // without stacks
    std::unordered_set<std::string> comments_;
    std::chrono::system_clock::time_point base_;  // that spans count from: the first one's start
    std::chrono::system_clock::time_point end_;
    IndexByText mappings_;
    IndexByText functions_;
    IndexByText locations_;
    IndexByText labels_by_text_;
    std::vector<symbolize::SampleLabels> labels_;
    std::vector<Stack> stacks_;
    std::unordered_multimap<std::uint64_t, std::uint32_t> stacks_by_hash_;
};

}  // namespace bobbin::profile
