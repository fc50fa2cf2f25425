// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace bobbin::cfi {

// DWARF register numbers, psABI x86-64 figure 3.36.
inline constexpr std::uint8_t kRcx = 2;
inline constexpr std::uint8_t kRbx = 3;
inline constexpr std::uint8_t kRbp = 6;
inline constexpr std::uint8_t kRsp = 7;
inline constexpr std::uint8_t kReturnAddress = 16;

enum class CfaKind : std::uint8_t {
    kNoCfi,           // no FDE covers the address
    kRegisterOffset,  // cfa = cfa_register + cfa_offset
    kDerefRegister,   // cfa = *(cfa_register + cfa_offset) + cfa_addend
    kPlt,             // cfa = rsp + 8 + ((rip & 15) >= cfa_offset ? 8 : 0)
    kExpression,      // any other expression
};

enum class RbpKind : std::uint8_t {
    kSame,        // the caller's rbp is the present one
    kAtCfa,       // *(cfa + rbp_offset)
    kAtRbp,       // *(rbp + rbp_offset): gcc stack realignment
    kUndefined,   // stated as not recoverable
    kInRegister,  // in the register whose DWARF number is rbp_offset
    kExpression,  // any other expression, or a val_offset
};

enum class ReturnAddressKind : std::uint8_t {
    kAtCfa,       // *(cfa + ra_offset); ra_offset is -8 but for a handful of rows
    kUndefined,   // the outermost frame: _start, clone
    kInRegister,  // in the register whose DWARF number is ra_offset: vfork
    kExpression,
    kOtherStack,  // a language's runtime switched stacks, and nothing says where the caller is
};

// How to get from a frame to its caller. Only what a walk needs is kept: the CFA, rbp and the
// return address. Fields a kind does not use are 0, so that equal rules compare equal.
struct UnwindRule {
    CfaKind cfa = CfaKind::kNoCfi;
    std::uint8_t cfa_register = 0;
    RbpKind rbp = RbpKind::kSame;
    ReturnAddressKind return_address = ReturnAddressKind::kAtCfa;
    bool signal_frame = false;  // augmentation 'S': do not step the caller's pc back by one
    // The return address is the start of an exception's landing pad, with no call before it: the
    // last instructions of __builtin_eh_return, which _Unwind_Resume and its like end with.
    bool enters_landing_pad = false;
    bool changes_stack = false;  // the CFA lies on another stack: no order between it and rsp
    // The caller's rbx: 0 not said, 1 the present one, else *(cfa - 8 * rbx_words). Said only in
    // files that have a CFA by rbx: ld.so's lazy binding, among the libraries of a system.
    std::uint8_t rbx_words = 0;
    std::int32_t cfa_offset = 0;
    std::int32_t cfa_addend = 0;
    std::int32_t rbp_offset = 0;
    std::int32_t ra_offset = 0;

    friend bool operator==(const UnwindRule&, const UnwindRule&) = default;
};

// From base_file_vaddr + vaddr_from_base up to the next row, `rules[rule]` holds.
struct UnwindRow {
    std::uint32_t vaddr_from_base = 0;
    std::uint32_t rule = 0;
};

// Rows of one file: ascending, no two at one address, neighbours with different rules, and without
// gaps: where no FDE covers, a row with rule kNoCfiRule stands; the last row is one of those. 8
// bytes a row, because libxul has 2.4 million of them and only 1,332 distinct rules.
struct UnwindRows {
    static constexpr std::uint32_t kNoCfiRule = 0;  // rules[0] is always UnwindRule{}

    std::uint64_t base_file_vaddr = 0;
    std::vector<UnwindRow> rows;
    std::vector<UnwindRule> rules;

    [[nodiscard]] std::uint64_t file_vaddr(const UnwindRow& row) const {
        return base_file_vaddr + row.vaddr_from_base;
    }
    [[nodiscard]] const UnwindRule& rule_of(const UnwindRow& row) const { return rules[row.rule]; }
};

}  // namespace bobbin::cfi
