// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "cfi/unwind_row.h"
#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

using cfi::CfaKind;
using cfi::RbpKind;
using cfi::ReturnAddressKind;
using cfi::UnwindRule;

// The kernel has the 16 general registers of the innermost frame (psABI x86-64 figure 3.36: 0..15).
constexpr std::uint8_t kGeneralRegisterCount = 16;

// rbp = *(cfa - 8 - 8 * slot), slot 0 = unchanged.
std::optional<unsigned> rbp_slot(const UnwindRule& rule) {
    if (rule.rbp == RbpKind::kSame) {
        return 0;
    }
    constexpr std::int32_t kDeepest = -8 - 8 * abi::CODE_RBP_SLOT_MAX;
    if (rule.rbp != RbpKind::kAtCfa || rule.rbp_offset % 8 != 0 || rule.rbp_offset > -16 ||
        rule.rbp_offset < kDeepest) {
        return std::nullopt;
    }
    return static_cast<unsigned>(-8 - rule.rbp_offset) / 8;
}

std::optional<std::uint16_t> plain_code(const UnwindRule& rule) {
    const bool from_rbp = rule.cfa_register == cfi::kRbp;
    if (rule.cfa != CfaKind::kRegisterOffset || (!from_rbp && rule.cfa_register != cfi::kRsp) ||
        rule.cfa_offset <= 0 || rule.cfa_offset % 8 != 0 ||
        rule.cfa_offset / 8 > abi::CODE_CFA_WORDS_MASK) {
        return std::nullopt;
    }
    if (rule.signal_frame || rule.changes_stack || rule.enters_landing_pad || rule.rbx_words != 0 ||
        rule.return_address != ReturnAddressKind::kAtCfa || rule.ra_offset != -8) {
        return std::nullopt;
    }
    const std::optional<unsigned> slot = rbp_slot(rule);
    if (!slot) {
        return std::nullopt;
    }
    return static_cast<std::uint16_t>(static_cast<unsigned>(rule.cfa_offset) / 8 |
                                      *slot << abi::CODE_RBP_SLOT_SHIFT |
                                      (from_rbp ? unsigned{abi::CODE_BASE_RBP} : 0U));
}

// The walk ends there whatever rbp and the return address would have been.
constexpr abi::special_rule unsupported_rule() {
    abi::special_rule special{};
    special.cfa = abi::SPECIAL_CFA_UNSUPPORTED;
    return special;
}

// The walk ends there as well. The cfa is that of a function's first instruction, so that a kernel
// which computes it before it looks at the return address finds nothing odd.
constexpr abi::special_rule outermost_rule() {
    abi::special_rule special{};
    special.cfa = abi::SPECIAL_CFA_RSP;
    special.cfa_offset = 8;
    special.return_address = abi::SPECIAL_RA_UNDEFINED;
    return special;
}

constexpr abi::special_rule other_stack_rule() {
    abi::special_rule special{};
    special.cfa = abi::SPECIAL_CFA_RSP;
    special.cfa_offset = 8;
    special.return_address = abi::SPECIAL_RA_OTHER_STACK;
    return special;
}

constexpr abi::special_rule signal_frame_rule() {
    abi::special_rule special{};
    special.cfa = abi::SPECIAL_CFA_SIGNAL_FRAME;
    return special;
}

std::uint8_t special_cfa_of(const UnwindRule& rule) {
    const bool from_rsp = rule.cfa_register == cfi::kRsp;
    const bool from_rbp = rule.cfa_register == cfi::kRbp;
    switch (rule.cfa) {
        case CfaKind::kRegisterOffset:
            if (from_rsp || from_rbp) {
                return from_rsp ? abi::SPECIAL_CFA_RSP : abi::SPECIAL_CFA_RBP;
            }
            return rule.cfa_register < kGeneralRegisterCount ? abi::SPECIAL_CFA_REGISTER
                                                             : abi::SPECIAL_CFA_UNSUPPORTED;
        case CfaKind::kDerefRegister:
            if (from_rsp || from_rbp) {
                return from_rsp ? abi::SPECIAL_CFA_DEREF_RSP : abi::SPECIAL_CFA_DEREF_RBP;
            }
            return abi::SPECIAL_CFA_UNSUPPORTED;
        case CfaKind::kPlt:
            return abi::SPECIAL_CFA_PLT;
        default:
            return abi::SPECIAL_CFA_UNSUPPORTED;
    }
}

void set_rbp(abi::special_rule& special, const UnwindRule& rule) {
    switch (rule.rbp) {
        case RbpKind::kSame:
            return;
        case RbpKind::kAtCfa:
            special.rbp = abi::SPECIAL_RBP_AT_CFA;
            special.rbp_offset = rule.rbp_offset;
            return;
        case RbpKind::kAtRbp:
            special.rbp = abi::SPECIAL_RBP_AT_RBP;
            special.rbp_offset = rule.rbp_offset;
            return;
        default:
            special.rbp = abi::SPECIAL_RBP_LOST;
    }
}

// False: no return address can be had this way.
bool set_return_address(abi::special_rule& special, const UnwindRule& rule) {
    if (rule.return_address == ReturnAddressKind::kAtCfa) {
        special.return_address = abi::SPECIAL_RA_AT_CFA;
        special.ra_offset = rule.ra_offset;
        return true;
    }
    if (rule.return_address == ReturnAddressKind::kInRegister && rule.ra_offset >= 0 &&
        rule.ra_offset < kGeneralRegisterCount) {
        special.return_address = abi::SPECIAL_RA_REGISTER;
        special.ra_register = static_cast<std::uint8_t>(rule.ra_offset);
        return true;
    }
    return false;
}

// Rules that make the kernel do the same become one special: there is room for 4,096.
abi::special_rule special_of(const UnwindRule& rule) {
    if (rule.cfa == CfaKind::kNoCfi) {
        return {};
    }
    if (rule.signal_frame) {
        return signal_frame_rule();
    }
    if (rule.return_address == ReturnAddressKind::kUndefined) {
        return outermost_rule();
    }
    if (rule.return_address == ReturnAddressKind::kOtherStack) {
        return other_stack_rule();
    }
    abi::special_rule special{};
    special.cfa = special_cfa_of(rule);
    if (special.cfa == abi::SPECIAL_CFA_UNSUPPORTED || !set_return_address(special, rule)) {
        return unsupported_rule();
    }
    if (special.cfa == abi::SPECIAL_CFA_REGISTER) {
        special.cfa_register = rule.cfa_register;
    }
    if (rule.cfa == CfaKind::kDerefRegister) {
        special.cfa_addend = rule.cfa_addend;
    }
    special.cfa_offset = rule.cfa_offset;
    special.changes_stack = rule.changes_stack ? 1 : 0;
    special.enters_landing_pad = rule.enters_landing_pad ? 1 : 0;
    special.rbx = rule.rbx_words;
    set_rbp(special, rule);
    return special;
}

}  // namespace

std::optional<std::uint16_t> encode_rule(const UnwindRule& rule, SpecialRules& specials,
                                         std::size_t* may_add) {
    if (const std::optional<std::uint16_t> code = plain_code(rule)) {
        return code;
    }
    const std::optional<std::uint16_t> index = specials.index_of(special_of(rule), may_add);
    if (!index) {
        return std::nullopt;
    }
    const unsigned low = *index & abi::CODE_CFA_WORDS_MASK;
    const unsigned high = *index > abi::CODE_CFA_WORDS_MASK ? unsigned{abi::CODE_BASE_RBP} : 0U;
    return static_cast<std::uint16_t>(abi::CODE_SPECIAL | low | high);
}

}  // namespace bobbin::unwind_table
