// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolize/named_profile.h"

namespace bobbin::profile {

// Builds a profile from stacks of names, as text formats have them: everything is listed once, and
// equal stacks of equal labels are one.
class StackCollector {
public:
    // Index of what is asked for, added when it is new.
    std::uint32_t function(std::string_view name, std::string_view file = {});
    std::uint32_t mapping(std::string_view file);
    std::uint32_t location(const symbolize::Location& location);

    // `locations` leaf first.
    std::uint32_t stack(const std::vector<std::uint32_t>& locations,
                        const symbolize::SampleLabels& labels);
    symbolize::NamedStack& at(std::uint32_t stack) { return profile_.stacks[stack]; }

    // The profile without its head: only counts are added up.
    [[nodiscard]] symbolize::NamedProfile take();

private:
    using Index = std::unordered_map<std::string, std::uint32_t>;

    symbolize::NamedProfile profile_;
    Index functions_;
    Index mappings_;
    Index locations_;
    Index stacks_;
};

}  // namespace bobbin::profile
