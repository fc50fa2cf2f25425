// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "symbolize/named_profile.h"

namespace bobbin::profile {

// A function as readers tell them apart: a name in a module and a source file. Its lines are one
// frame, which shows the line that most value was at.
struct FunctionFrame {
    std::uint32_t function = 0;  // index into the profile
    std::uint32_t mapping = 0;
    std::uint32_t line = 0;  // 0: not known
};

class FunctionFrames {
public:
    explicit FunctionFrames(const symbolize::NamedProfile& profile);

    // Index of the frame that a line of a location belongs to.
    [[nodiscard]] std::uint32_t index_of(std::uint32_t location, std::size_t line) const {
        return index_by_place_[location][line];
    }
    [[nodiscard]] const std::vector<FunctionFrame>& frames() const { return frames_; }

private:
    using ValueByLine = std::map<std::uint32_t, std::uint64_t>;
    void add_lines(std::uint32_t location_index, std::uint64_t value,
                   std::vector<ValueByLine>& values) const;
    void set_lines();

    const symbolize::NamedProfile& profile_;
    std::vector<FunctionFrame> frames_;
    std::vector<std::vector<std::uint32_t>> index_by_place_;
};

}  // namespace bobbin::profile
