// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "cfi/unwind_row.h"
#include "pclntab/frame_layout.h"
#include "pclntab/special_functions.h"
#include "pclntab/stack_depths.h"

namespace bobbin::pclntab {

// From `begin` on, counted from the function's start.
struct RulePart {
    std::uint32_t begin = 0;
    cfi::UnwindRule rule;
};

// A few, so that none allocates.
class RuleParts {
public:
    void add(const RulePart& part) { parts_[count_++] = part; }
    [[nodiscard]] const RulePart* begin() const { return parts_; }
    [[nodiscard]] const RulePart* end() const { return parts_ + count_; }

private:
    static constexpr std::size_t kMost = 5;  // the span's beginning and four cuts
    RulePart parts_[kMost] = {};
    std::size_t count_ = 0;
};

// What the stack depths of one function mean.
class FunctionRules {
public:
    FunctionRules(Treatment treatment, Prologue prologue, FrameLayout layout)
        : treatment_(treatment), prologue_(prologue), layout_(layout) {}

    // The rules from span.begin on to span.end; neighbours may be equal.
    [[nodiscard]] RuleParts parts_of(const DepthSpan& span,
                                     const std::optional<DepthSpan>& following) const;
    [[nodiscard]] cfi::UnwindRule at_entry() const;

private:
    struct Place {
        std::uint32_t at = 0;
        DepthSpan span;
        std::uint32_t epilogue_begin = FrameLayout::kNever;
    };
    [[nodiscard]] cfi::UnwindRule rule_at(const Place& place) const;
    [[nodiscard]] cfi::UnwindRule rule_by_depth(const Place& place) const;
    [[nodiscard]] cfi::UnwindRule rule_by_frame_pointer(const Place& place) const;
    [[nodiscard]] std::uint32_t epilogue_begin(const DepthSpan& span,
                                               const std::optional<DepthSpan>& following) const;

    Treatment treatment_;
    Prologue prologue_;
    FrameLayout layout_;
};

}  // namespace bobbin::pclntab
