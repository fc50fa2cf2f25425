// SPDX-License-Identifier: Apache-2.0
#include "pclntab/function_rules.h"

#include <algorithm>
#include <array>

namespace bobbin::pclntab {
namespace {

using cfi::CfaKind;
using cfi::RbpKind;
using cfi::ReturnAddressKind;
using cfi::UnwindRule;

constexpr std::int32_t kReturnAddressOffset = -8;  // psABI 3.2.2, and Go's own
constexpr std::int32_t kSavedRbpOffset = -16;
constexpr std::int32_t kR12 = 12;  // psABI figure 3.36

UnwindRule cfa_at(std::uint8_t cfa_register, std::int32_t offset) {
    UnwindRule rule;
    rule.cfa = CfaKind::kRegisterOffset;
    rule.cfa_register = cfa_register;
    rule.cfa_offset = offset;
    rule.ra_offset = kReturnAddressOffset;
    return rule;
}

UnwindRule end_of_walk(ReturnAddressKind reason) {
    UnwindRule rule = cfa_at(cfi::kRsp, 8);
    rule.return_address = reason;
    rule.ra_offset = 0;
    return rule;
}

// What the C library's FDE for __restore_rt says: rsp stands at the ucontext, whose rsp is at 160,
// rip at 168 and rbp at 120 (asm/sigcontext.h).
UnwindRule signal_frame() {
    UnwindRule rule;
    rule.cfa = CfaKind::kDerefRegister;
    rule.cfa_register = cfi::kRsp;
    rule.cfa_offset = 160;
    rule.rbp = RbpKind::kExpression;
    rule.return_address = ReturnAddressKind::kExpression;
    rule.signal_frame = true;
    return rule;
}

}  // namespace

RuleParts FunctionRules::parts_of(const DepthSpan& span,
                                  const std::optional<DepthSpan>& following) const {
    // A way out of a frame ends with `ret`, or in systemstack with `jmp rdi`.
    constexpr std::uint32_t kReturnBytes = 2;
    const std::uint32_t epilogue = epilogue_begin(span, following);
    std::array cuts = {
        layout_.rbp_saved, layout_.rbp_is_frame_pointer, epilogue,
        span.end - span.begin > kReturnBytes ? span.begin + kReturnBytes : FrameLayout::kNever};
    std::ranges::sort(cuts);
    RuleParts parts;
    parts.add({span.begin, rule_at({span.begin, span, epilogue})});
    for (const std::uint32_t cut : cuts) {
        if (cut <= span.begin || cut >= span.end) continue;
        parts.add({cut, rule_at({cut, span, epilogue})});
    }
    return parts;
}

UnwindRule FunctionRules::at_entry() const {
    return rule_at({0, {.begin = 0, .end = 1, .depth_bytes = 0}, FrameLayout::kNever});
}

// mov rbp, [rsp + LOCALS]; add rsp, LOCALS + 8: rbp is the caller's before the depth says so.
std::uint32_t FunctionRules::epilogue_begin(const DepthSpan& span,
                                            const std::optional<DepthSpan>& following) const {
    constexpr std::uint32_t kAddRspBytes = 4;
    const bool leaves_frame = span.depth_bytes > 0 && following && following->depth_bytes == 0;
    if (prologue_ != Prologue::kMove || !leaves_frame) return FrameLayout::kNever;
    return span.end - std::min(kAddRspBytes, span.end - span.begin);
}

UnwindRule FunctionRules::rule_at(const Place& place) const {
    switch (treatment_) {
        case Treatment::kBottom:
            return end_of_walk(ReturnAddressKind::kUndefined);
        case Treatment::kOtherStack:
            return end_of_walk(ReturnAddressKind::kOtherStack);
        case Treatment::kByFramePointer:
            return rule_by_frame_pointer(place);
        case Treatment::kSignalTrampoline:
            return signal_frame();
        default:
            return rule_by_depth(place);
    }
}

UnwindRule FunctionRules::rule_by_depth(const Place& place) const {
    const std::int32_t depth = place.span.depth_bytes;
    UnwindRule rule = cfa_at(cfi::kRsp, depth + 8);
    if (depth < 0) {
        const bool known = treatment_ == Treatment::kReturnAddressInR12;
        rule.return_address =
            known ? ReturnAddressKind::kInRegister : ReturnAddressKind::kExpression;
        rule.ra_offset = known ? kR12 : 0;
    }
    if (depth > 0 && layout_.rbp_saved == FrameLayout::kNever) {
        rule.rbp = RbpKind::kUndefined;  // assembly with a frame of its own making
    } else if (depth > 0 && place.at >= layout_.rbp_saved) {
        rule.rbp = RbpKind::kAtCfa;
        rule.rbp_offset = kSavedRbpOffset;
    }
    return rule;
}

// Between prologue and epilogue rbp points at the caller's rbp, right below the return address,
// whatever stack rsp is on. Without a frame, as systemstack is up to Go 1.20, rbp is the caller's
// and the stack left behind is not to be found.
UnwindRule FunctionRules::rule_by_frame_pointer(const Place& place) const {
    const UnwindRule other_stack = end_of_walk(ReturnAddressKind::kOtherStack);
    if (layout_.rbp_is_frame_pointer == FrameLayout::kNever) return other_stack;
    if (place.at < layout_.rbp_is_frame_pointer) return rule_by_depth(place);
    if (place.span.depth_bytes == 0) {
        return place.at == place.span.begin ? rule_by_depth(place) : other_stack;
    }
    if (place.at >= place.epilogue_begin) return rule_by_depth(place);
    UnwindRule rule = cfa_at(cfi::kRbp, 16);
    rule.rbp = RbpKind::kAtCfa;
    rule.rbp_offset = kSavedRbpOffset;
    rule.changes_stack = true;
    return rule;
}

}  // namespace bobbin::pclntab
