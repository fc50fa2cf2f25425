// SPDX-License-Identifier: Apache-2.0
#include "luajit/unwind_rows.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cfi/row_writer.h"
#include "cfi/rule_set.h"

namespace bobbin::luajit {
namespace {

constexpr std::int32_t kWordBytes = 8;
constexpr std::int32_t kRbpOffset =
    -2 * kWordBytes;                      // pushed first, right below the return address
constexpr std::int32_t kTraceBytes = 16;  // what rsp is lower by in a trace, at its ends

// rsp or rcx + cfa_offset is the CFA.
cfi::UnwindRule rule_by(std::uint8_t cfa_register, std::int32_t cfa_offset, bool rbp_is_saved) {
    cfi::UnwindRule rule;
    rule.cfa = cfi::CfaKind::kRegisterOffset;
    rule.cfa_register = cfa_register;
    rule.cfa_offset = cfa_offset;
    rule.rbp = rbp_is_saved ? cfi::RbpKind::kAtCfa : cfi::RbpKind::kSame;
    rule.rbp_offset = rbp_is_saved ? kRbpOffset : 0;
    rule.ra_offset = -kWordBytes;
    return rule;
}

// With `words` on the stack, counting the return address: what was pushed first is rbp.
cfi::UnwindRule rule_of_words(std::int32_t words) {
    return rule_by(cfi::kRsp, words * kWordBytes, words > 1);
}

struct Span {
    std::uint64_t begin_file_vaddr = 0;
    std::uint64_t end_file_vaddr = 0;
    cfi::UnwindRule rule;
};

class SpanList {
public:
    explicit SpanList(const VmLayout& layout)
        : layout_(layout), interpreter_(rule_by(cfi::kRsp, layout.cframe_bytes, true)) {}

    void add_entries();
    void add_ways_back();
    void add_errors();
    void add_helpers();
    void add_traces();
    void add_ffi_call();
    cfi::UnwindRows write();

private:
    void add(std::uint64_t begin, std::uint64_t end, const cfi::UnwindRule& rule) {
        if (begin < end) spans_.push_back({begin, end, rule});
    }
    // Where an instruction of `size_bytes` stands; gives where the next one does.
    std::uint64_t step(std::uint64_t at, std::uint64_t size_bytes, std::int32_t words) {
        add(at, at + size_bytes, rule_of_words(words));
        return at + size_bytes;
    }
    void add_pushes(std::uint64_t first_push, std::int32_t words);
    void add_pops(std::uint64_t raises_rsp, std::uint64_t last_bytes);

    const VmLayout& layout_;
    cfi::UnwindRule interpreter_;
    std::vector<Span> spans_;
};

// push rbx; push r15; push r14; [push r13; push r12;] sub rsp, N. Before it there are `words`.
void SpanList::add_pushes(std::uint64_t first_push, std::int32_t words) {
    std::uint64_t at = step(first_push, 1, words);  // rbx
    at = step(at, 2, ++words);
    at = step(at, 2, ++words);
    if (layout_.saves_six_registers) {
        at = step(at, 2, ++words);
        at = step(at, 2, ++words);
    }
    step(at, 4, ++words);  // sub
}

void SpanList::add_entries() {
    const VmPlaces& places = layout_.places;
    for (const std::uint64_t push_rbp : {places.resume_file_vaddr, places.pcall_file_vaddr,
                                         places.call_file_vaddr, places.cpcall_file_vaddr}) {
        add_pushes(step(push_rbp, 1, 1), 2);
    }
    if (places.callback_file_vaddr != 0) add_pushes(places.callback_file_vaddr, 2);
}

// add rsp, N; [pop r12; pop r13;] pop r14; pop r15; pop rbx; pop rbp; and one more.
void SpanList::add_pops(std::uint64_t raises_rsp, std::uint64_t last_bytes) {
    constexpr std::uint64_t kAddBytes = 4;
    std::int32_t words = layout_.saves_six_registers ? 7 : 5;
    std::uint64_t at = raises_rsp + kAddBytes;
    if (layout_.saves_six_registers) {
        at = step(at, 2, words--);
        at = step(at, 2, words--);
    }
    at = step(at, 2, words--);  // r14
    at = step(at, 2, words--);
    at = step(at, 1, words--);  // rbx
    at = step(at, 1, words--);
    step(at, last_bytes, words);
}

void SpanList::add_ways_back() {
    constexpr std::uint64_t kRetBytes = 1;
    constexpr std::uint64_t kJmpBytes = 5;
    add_pops(layout_.places.leave_file_vaddr, kRetBytes);
    add_pops(layout_.places.rethrow_file_vaddr, kJmpBytes);
}

// Called from C, they give the stack up for that of an outer C frame.
void SpanList::add_errors() {
    const VmPlaces& places = layout_.places;
    const cfi::UnwindRule called = rule_of_words(1);
    add(places.unwind_c_file_vaddr, places.unwind_c_landed_file_vaddr, called);
    add(places.unwind_ff_file_vaddr, places.unwind_ff_landed_file_vaddr, called);
}

void SpanList::add_helpers() {
    const VmPlaces& places = layout_.places;
    const cfi::UnwindRule called_by_handler =
        rule_by(cfi::kRsp, layout_.cframe_bytes + kWordBytes, true);
    const cfi::UnwindRule called = rule_of_words(1);
    constexpr std::uint64_t kPushBytes = 1;
    add(places.gc_step_file_vaddr, places.gc_step_file_vaddr + kPushBytes, called_by_handler);
    add(places.gc_step_return_file_vaddr + kPushBytes, places.gc_step_end_file_vaddr,
        called_by_handler);
    const std::uint64_t pushed_file_vaddr = places.cpuid_push_file_vaddr + kPushBytes;
    const std::uint64_t popped_file_vaddr = places.cpuid_pop_file_vaddr + kPushBytes;
    add(places.helpers_begin_file_vaddr, pushed_file_vaddr, called);
    add(pushed_file_vaddr, popped_file_vaddr, rule_by(cfi::kRsp, 2 * kWordBytes, false));
    add(popped_file_vaddr, places.helpers_end_file_vaddr, called);
}

void SpanList::add_traces() {
    const VmPlaces& places = layout_.places;
    const cfi::UnwindRule lowered = rule_by(cfi::kRsp, layout_.cframe_bytes + kTraceBytes, true);
    const cfi::UnwindRule in_rcx = rule_by(cfi::kRcx, layout_.cframe_bytes, true);
    cfi::UnwindRule by_chain;
    by_chain.cfa = cfi::CfaKind::kExpression;
    by_chain.rbp = cfi::RbpKind::kAtCfa;
    by_chain.rbp_offset = kRbpOffset;
    by_chain.ra_offset = -kWordBytes;
    add(places.trace_entry_lowered_file_vaddr, places.trace_entry_end_file_vaddr, lowered);
    add(places.exit_handler_file_vaddr, places.exit_in_rcx_file_vaddr, by_chain);
    add(places.exit_in_rcx_file_vaddr, places.exit_landed_file_vaddr, in_rcx);
    add(places.exit_interp_file_vaddr, places.exit_joined_file_vaddr, lowered);
    add(places.exit_joined_file_vaddr, places.exit_done_file_vaddr, in_rcx);
}

// push rbp; mov rbp, rsp; ... leave; ret
void SpanList::add_ffi_call() {
    const VmPlaces& places = layout_.places;
    if (places.ffi_call_file_vaddr == 0) return;
    constexpr std::uint64_t kMovBytes = 3;
    constexpr std::uint64_t kLeaveBytes = 1;
    std::uint64_t at = step(places.ffi_call_file_vaddr, 1, 1);
    at = step(at, kMovBytes, 2);
    const std::uint64_t left = places.ffi_call_leave_file_vaddr + kLeaveBytes;
    add(at, left, rule_by(cfi::kRbp, 2 * kWordBytes, true));
    add(left, places.ffi_call_end_file_vaddr, rule_of_words(1));
}

cfi::UnwindRows SpanList::write() {
    const VmPlaces& places = layout_.places;
    std::ranges::sort(spans_, {}, &Span::begin_file_vaddr);
    cfi::RuleSet rules;
    cfi::RowWriter rows(places.begin_file_vaddr, 2 * spans_.size());
    rows.append(places.begin_file_vaddr, rules.number_of(interpreter_));
    for (const Span& span : spans_) {
        rows.append(span.begin_file_vaddr, rules.number_of(span.rule));
        const bool inside = span.end_file_vaddr < places.end_file_vaddr;
        rows.append(span.end_file_vaddr,
                    inside ? rules.number_of(interpreter_) : cfi::UnwindRows::kNoCfiRule);
    }
    rows.append(std::max(places.end_file_vaddr, places.ffi_call_end_file_vaddr),
                cfi::UnwindRows::kNoCfiRule);
    return {places.begin_file_vaddr, rows.take(), rules.take()};
}

}  // namespace

cfi::UnwindRows make_unwind_rows(const VmLayout& layout) {
    SpanList spans(layout);
    spans.add_entries();
    spans.add_ways_back();
    spans.add_errors();
    spans.add_helpers();
    spans.add_traces();
    spans.add_ffi_call();
    return spans.write();
}

}  // namespace bobbin::luajit
