// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "symbolize/named_profile.h"

namespace bobbin::report {

enum class By {
    kFunction,  // name, module and source file
    kLine,      // and the line
    kFile,      // source file
    kModule,
    kProcess,
    kThread,
    kUnit,
    kCpu,
    kContainer,
    kLabel,
};

struct Grouping {
    By by = By::kFunction;
    std::string label_key;  // of kLabel
};

// Frames have groups for the first four, whole stacks for the others.
bool groups_frames(By by);

// One row of an answer.
struct Group {
    std::string name;
    std::string module;  // path; empty: not a frame's, or not known
    std::string file;
    std::uint32_t line = 0;
    bool is_kernel = false;
    bool is_inlined = false;  // wherever it was met
};

// Which group each line of each location belongs to.
class FrameGroups {
public:
    FrameGroups(const symbolize::NamedProfile& profile, By by);

    [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
    // Innermost first.
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t location) const {
        const std::size_t first = first_line_[location];
        return std::span(group_of_line_).subspan(first, first_line_[location + 1] - first);
    }
    // The lines of all locations are counted through: the first one of this.
    [[nodiscard]] std::size_t first_line_of(std::uint32_t location) const {
        return first_line_[location];
    }
    [[nodiscard]] std::size_t line_count() const { return group_of_line_.size(); }

private:
    std::vector<Group> groups_;
    std::vector<std::uint32_t> group_of_line_;
    std::vector<std::size_t> first_line_;  // by location, and the end
};

// The name of the group that a whole stack belongs to; never empty.
std::string owner_name(const symbolize::SampleLabels& labels, const Grouping& grouping);

}  // namespace bobbin::report
