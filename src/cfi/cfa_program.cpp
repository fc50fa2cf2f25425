// SPDX-License-Identifier: Apache-2.0
#include "cfi/cfa_program.h"

#include <algorithm>
#include <limits>

#include "cfi/cfa_expression.h"
#include "cfi/cfa_opcode.h"
#include "cfi/pointer_encoding.h"

namespace bobbin::cfi {
namespace {

// Compilers nest one deep. The state is 32 times as large as the instruction that remembers it.
constexpr std::size_t kMaxRemembered = 1U << 20;

constexpr std::int64_t kMaxOffset = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kTooLarge = kMaxOffset + 1;  // as is its negative

constexpr bool fits(std::int64_t offset) { return offset >= -kMaxOffset && offset <= kMaxOffset; }

// What holds before any instruction: the psABI has rbp preserved. Nothing says where a return
// address is that no instruction mentions.
constexpr UnwindRule kBeforeCie = {.return_address = ReturnAddressKind::kExpression};

// Values of UnwindRule::rbx_words.
constexpr std::uint8_t kRbxUnknown = 0;
constexpr std::uint8_t kRbxUnchanged = 1;

std::uint8_t rbx_words_at(std::int64_t offset_from_cfa) {
    const bool below_return_address = offset_from_cfa <= -16 && offset_from_cfa >= -8 * 255;
    if (!below_return_address || offset_from_cfa % 8 != 0) return kRbxUnknown;
    return static_cast<std::uint8_t>(-offset_from_cfa / 8);
}

}  // namespace

bool CfaProgram::run_initial(Cie& cie) {
    begin(cie, {.instructions = cie.initial_instructions, .end_file_vaddr = 1}, nullptr);
    begin_with(kBeforeCie, RuleSet::kNoNumber);
    state_.rule.signal_frame = cie.signal_frame;
    set_rbx(kRbxUnchanged);
    if (!execute() || !number_rule()) return false;
    cie.initial_rule = state_.rule;
    cie.initial_rule_number = state_.rule_number;
    if (cie.code_alignment == 1 && cie.data_alignment == -8) {
        cie.plain_initial_rule = PlainRule::of(state_.rule);
    }
    return true;
}

bool CfaProgram::run(const Cie& cie, const Function& function, RowWriter& rows) {
    begin(cie, function, &rows);
    begin_with(cie.initial_rule, cie.initial_rule_number);
    if (!execute()) return false;
    if (location_file_vaddr_ < function_.end_file_vaddr && !move_to(function_.end_file_vaddr)) {
        return false;
    }
    rows.append(function_.end_file_vaddr, UnwindRows::kNoCfiRule);
    return true;
}

void CfaProgram::begin(const Cie& cie, const Function& function, RowWriter* rows) {
    cie_ = &cie;
    rows_ = rows;
    function_ = function;
    in_ = ByteReader(function.instructions);
    location_file_vaddr_ = function.start_file_vaddr;
    remembered_.clear();
}

void CfaProgram::begin_with(const UnwindRule& rule, std::uint32_t rule_number) {
    const bool plain = rule.cfa == CfaKind::kRegisterOffset;
    state_ = {rule, rule.cfa_register, plain ? rule.cfa_offset : 0, rule_number};
}

bool CfaProgram::execute() {
    while (!in_.at_end() && location_file_vaddr_ < function_.end_file_vaddr) {
        if (!step(in_.u8())) return false;
    }
    return in_.ok();
}

bool CfaProgram::step(std::uint8_t opcode) {
    const std::uint8_t operand = opcode & 0x3f;
    switch (opcode >> 6) {
        case kAdvanceLoc:
            return advance(operand);
        case kOffset:
            return save_at_cfa(operand, read_factored());
        case kRestore:
            restore(operand);
            return true;
        default:
            return step_extended(opcode);
    }
}

// The four that make up nearly all of what the primary opcodes leave, and the rest out of line.
bool CfaProgram::step_extended(std::uint8_t opcode) {
    switch (opcode) {
        case kNop:
            return true;
        case kDefCfaOffset:
            return define_cfa_offset(read_offset());
        case kRememberState:
            return remember_state();
        case kRestoreState:
            return restore_state();
        default:
            return step_rare(opcode);
    }
}

bool CfaProgram::step_rare(std::uint8_t opcode) {
    switch (opcode) {
        case kSetLoc:
        case kAdvanceLoc1:
        case kAdvanceLoc2:
        case kAdvanceLoc4:
            return step_location(opcode);
        case kDefCfa:
        case kDefCfaRegister:
        case kDefCfaExpression:
        case kDefCfaSf:
        case kDefCfaOffsetSf:
            return step_cfa(opcode);
        case kGnuArgsSize:
            (void)in_.uleb128();
            return true;
        default:
            return step_register(opcode);
    }
}

bool CfaProgram::step_location(std::uint8_t opcode) {
    switch (opcode) {
        case kAdvanceLoc1:
            return advance(in_.u8());
        case kAdvanceLoc2:
            return advance(in_.u16());
        case kAdvanceLoc4:
            return advance(in_.u32());
        default: {
            const std::uint64_t field_file_vaddr =
                function_.instructions_file_vaddr + in_.position();
            const std::uint64_t target =
                read_encoded_pointer(in_, cie_->pointer_encoding, field_file_vaddr);
            return in_.ok() && target >= location_file_vaddr_ && move_to(target);
        }
    }
}

bool CfaProgram::step_cfa(std::uint8_t opcode) {
    switch (opcode) {
        case kDefCfa: {
            const std::uint64_t register_number = in_.uleb128();
            return define_cfa(register_number, read_offset());
        }
        case kDefCfaSf: {
            const std::uint64_t register_number = in_.uleb128();
            return define_cfa(register_number, read_factored_signed());
        }
        case kDefCfaRegister:
            return define_cfa_register(in_.uleb128());
        case kDefCfaOffsetSf:
            return define_cfa_offset(read_factored_signed());
        default:
            return define_cfa_expression();
    }
}

bool CfaProgram::step_register(std::uint8_t opcode) {
    const std::uint64_t register_number = in_.uleb128();
    switch (opcode) {
        case kOffsetExtended:
            return save_at_cfa(register_number, read_factored());
        case kOffsetExtendedSf:
            return save_at_cfa(register_number, read_factored_signed());
        case kGnuNegativeOffsetExtended:
            return save_at_cfa(register_number, -read_factored());
        case kRestoreExtended:
            restore(register_number);
            return true;
        case kUndefined:
            set_unrecoverable(register_number);
            return true;
        case kSameValue:
            set_same(register_number);
            return true;
        case kRegister:
            return save_in_register(register_number, in_.uleb128());
        case kExpression:
            set_expression(register_number);
            return true;
        case kValExpression:
            in_.skip(in_.uleb128());
            set_computed(register_number);
            return true;
        case kValOffset:
        case kValOffsetSf:
            (void)in_.uleb128();  // a signed one is as many bytes
            set_computed(register_number);
            return true;
        default:
            return false;
    }
}

bool CfaProgram::advance(std::uint64_t delta) {
    std::uint64_t target = 0;
    if (__builtin_mul_overflow(delta, cie_->code_alignment, &target) ||
        __builtin_add_overflow(target, location_file_vaddr_, &target)) {
        return false;
    }
    return move_to(target);
}

// The row of the present address ends where the next begins, so it is appended on leaving it: of
// several changes at one address the last counts.
bool CfaProgram::move_to(std::uint64_t file_vaddr) {
    if (rows_ == nullptr) return false;
    if (file_vaddr > function_.first_file_vaddr && file_vaddr > location_file_vaddr_ &&
        !append_row()) {
        return false;
    }
    location_file_vaddr_ = file_vaddr;
    return true;
}

bool CfaProgram::append_row() {
    if (rows_->full() || !number_rule()) return false;
    rows_->append(std::max(location_file_vaddr_, function_.first_file_vaddr), state_.rule_number);
    return true;
}

// Rules that came back with a remembered state, or from the CIE, have their number already.
bool CfaProgram::number_rule() {
    if (state_.rule_number != RuleSet::kNoNumber) return true;
    const bool no_cfi = state_.rule.cfa == CfaKind::kNoCfi;
    state_.rule_number = no_cfi ? UnwindRows::kNoCfiRule : rules_.number_of(state_.rule);
    return state_.rule_number != RuleSet::kNoNumber;
}

UnwindRule& CfaProgram::change_rule() {
    state_.rule_number = RuleSet::kNoNumber;
    return state_.rule;
}

bool CfaProgram::define_cfa(std::uint64_t register_number, std::int64_t offset) {
    if (!fits(offset) || register_number > std::numeric_limits<std::uint8_t>::max()) return false;
    UnwindRule& rule = change_rule();
    rule.cfa = CfaKind::kRegisterOffset;
    rule.cfa_register = state_.cfa_register = static_cast<std::uint8_t>(register_number);
    rule.cfa_offset = state_.cfa_offset = static_cast<std::int32_t>(offset);
    rule.cfa_addend = 0;
    // The landing pad's address lies where rcx points; then rsp goes there and pops it.
    const bool by_rcx = register_number == kRcx && offset == 8;
    rule.enters_landing_pad = by_rcx || (rule.enters_landing_pad && register_number == kRsp);
    return true;
}

// Either changes half of a rule, which must be there.
bool CfaProgram::define_cfa_register(std::uint64_t register_number) {
    return state_.rule.cfa != CfaKind::kNoCfi && define_cfa(register_number, state_.cfa_offset);
}

// While an expression gives the CFA, only the one after it is meant (libgcc, execute_cfa_program).
bool CfaProgram::define_cfa_offset(std::int64_t offset) {
    if (state_.rule.cfa == CfaKind::kRegisterOffset) return define_cfa(state_.cfa_register, offset);
    if (state_.rule.cfa == CfaKind::kNoCfi || !fits(offset)) return false;
    state_.cfa_offset = static_cast<std::int32_t>(offset);
    return true;
}

bool CfaProgram::define_cfa_expression() {
    set_cfa_expression(in_.bytes(in_.uleb128()), change_rule());
    return true;
}

bool CfaProgram::save_at_cfa(std::uint64_t register_number, std::int64_t offset) {
    if (register_number == kRbx) set_rbx(rbx_words_at(offset));
    if (register_number != kRbp && register_number != kReturnAddress) return true;
    if (!fits(offset)) return false;
    if (register_number == kRbp) {
        set_rbp(RbpKind::kAtCfa, static_cast<std::int32_t>(offset));
    } else {
        set_return_address(ReturnAddressKind::kAtCfa, static_cast<std::int32_t>(offset));
    }
    return true;
}

bool CfaProgram::save_in_register(std::uint64_t register_number, std::uint64_t holder) {
    if (holder >= kTooLarge) return false;
    if (register_number == kRbp) {
        set_rbp(RbpKind::kInRegister, static_cast<std::int32_t>(holder));
    } else if (register_number == kReturnAddress) {
        set_return_address(ReturnAddressKind::kInRegister, static_cast<std::int32_t>(holder));
    } else if (register_number == kRbx) {
        set_rbx(kRbxUnknown);
    }
    return true;
}

void CfaProgram::set_rbp(RbpKind kind, std::int32_t offset) {
    UnwindRule& rule = change_rule();
    rule.rbp = kind;
    rule.rbp_offset = offset;
}

void CfaProgram::set_rbx(std::uint8_t words) {
    if (follow_rbx_) change_rule().rbx_words = words;
}

void CfaProgram::set_return_address(ReturnAddressKind kind, std::int32_t offset) {
    UnwindRule& rule = change_rule();
    rule.return_address = kind;
    rule.ra_offset = offset;
}

void CfaProgram::set_unrecoverable(std::uint64_t register_number) {
    if (register_number == kRbp) set_rbp(RbpKind::kUndefined, 0);
    if (register_number == kRbx) set_rbx(kRbxUnknown);
    if (register_number == kReturnAddress) set_return_address(ReturnAddressKind::kUndefined, 0);
}

// A return address that is "the same" would make every frame its own caller.
void CfaProgram::set_same(std::uint64_t register_number) {
    if (register_number == kRbp) set_rbp(RbpKind::kSame, 0);
    if (register_number == kRbx) set_rbx(kRbxUnchanged);
    if (register_number == kReturnAddress) set_return_address(ReturnAddressKind::kExpression, 0);
}

void CfaProgram::set_computed(std::uint64_t register_number) {
    if (register_number == kRbp) set_rbp(RbpKind::kExpression, 0);
    if (register_number == kRbx) set_rbx(kRbxUnknown);
    if (register_number == kReturnAddress) set_return_address(ReturnAddressKind::kExpression, 0);
}

void CfaProgram::set_expression(std::uint64_t register_number) {
    const std::span<const std::byte> expression = in_.bytes(in_.uleb128());
    set_computed(register_number);
    if (register_number == kRbp) set_rbp_expression(expression, change_rule());
}

// Back to what the CIE says.
void CfaProgram::restore(std::uint64_t register_number) {
    const UnwindRule& initial = rows_ == nullptr ? kBeforeCie : cie_->initial_rule;
    if (register_number == kRbp) set_rbp(initial.rbp, initial.rbp_offset);
    if (register_number == kRbx) set_rbx(rows_ == nullptr ? kRbxUnchanged : initial.rbx_words);
    if (register_number == kReturnAddress) {
        set_return_address(initial.return_address, initial.ra_offset);
    }
}

bool CfaProgram::remember_state() {
    if (remembered_.size() == kMaxRemembered) return false;
    remembered_.push_back(state_);
    return true;
}

bool CfaProgram::restore_state() {
    if (remembered_.empty()) return false;
    state_ = remembered_.back();
    remembered_.pop_back();
    return true;
}

std::int64_t CfaProgram::read_offset() {
    return static_cast<std::int64_t>(std::min(in_.uleb128(), std::uint64_t{kTooLarge}));
}

std::int64_t CfaProgram::read_factored() { return scale(static_cast<std::int64_t>(in_.uleb128())); }

std::int64_t CfaProgram::read_factored_signed() { return scale(in_.sleb128()); }

std::int64_t CfaProgram::scale(std::int64_t factored) const {
    std::int64_t offset = 0;
    const bool overflowed = __builtin_mul_overflow(factored, cie_->data_alignment, &offset);
    return overflowed || !fits(offset) ? kTooLarge : offset;
}

}  // namespace bobbin::cfi
