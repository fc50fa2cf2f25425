// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "symbolize/named_profile.h"

namespace bobbin::report {

// What samples come to: how many, and what they measure (NamedProfile::value_type).
struct Weight {
    std::uint64_t count = 0;
    std::uint64_t value = 0;

    // Values of a file that is not ours may be anything: sums stop at the top.
    Weight& operator+=(const Weight& other) {
        if (__builtin_add_overflow(count, other.count, &count)) count = UINT64_MAX;
        if (__builtin_add_overflow(value, other.value, &value)) value = UINT64_MAX;
        return *this;
    }
    friend bool operator==(const Weight&, const Weight&) = default;
};

inline Weight weight_of(const symbolize::NamedStack& stack) { return {stack.count, stack.value}; }

inline Weight weight_of(const symbolize::NamedProfile& profile) {
    Weight all;
    for (const symbolize::NamedStack& stack : profile.stacks) all += weight_of(stack);
    return all;
}

// 0 of 0 is 0.
inline double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace bobbin::report
