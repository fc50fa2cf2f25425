// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/same_names.h"
#include "report/diff.h"

namespace bobbin::report {

// Blocks of equal length that a recording is cut into, to see how much counts vary with time.
inline constexpr std::size_t kTimeBlocks = 32;
using BlockCounts = std::array<double, kTimeBlocks>;

// One profile's samples by function; numbers of functions are common to both profiles.
struct SideCounts {
    struct Function {
        std::uint64_t count = 0;
        BlockCounts by_block{};
    };
    std::vector<Function> functions;
    Function all;
    bool has_blocks = false;

    Function& at(std::uint32_t number) {
        if (number >= functions.size()) functions.resize(std::size_t{number} + 1);
        return functions[number];
    }
};

// Gives functions of both profiles their numbers and counts their samples.
class DiffCounter {
public:
    DiffCounter(const profile::SameNames& names, DiffOn on) : names_(names), on_(on) {}

    SideCounts count(const symbolize::NamedProfile& profile);
    // Name and module.
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& functions() const {
        return functions_;
    }

private:
    using Numbers = std::vector<std::uint32_t>;

    Numbers number_lines(const symbolize::NamedProfile& profile,
                         const symbolize::Location& location);
    // Those that a stack counts for, each once.
    [[nodiscard]] Numbers functions_of(const symbolize::NamedStack& stack,
                                       const std::vector<Numbers>& by_location) const;

    const profile::SameNames& names_;
    DiffOn on_;
    std::unordered_map<std::string, std::uint32_t> number_by_key_;
    std::vector<std::pair<std::string, std::string>> functions_;
};

// How much larger the variance of a function's share is than that of independent samples; at least
// 1, and 1 where times are not known. diff_profiles() says how.
double variance_factor(const SideCounts::Function& function, const SideCounts& side);

}  // namespace bobbin::report
