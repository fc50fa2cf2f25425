// SPDX-License-Identifier: Apache-2.0
#include "golden/cfi_libdw_rules.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <libelf.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"

namespace bobbin::test {
namespace {

using cfi::CfaKind;
using cfi::RbpKind;
using cfi::ReturnAddressKind;
using cfi::UnwindRule;
using Ops = std::span<const Dwarf_Op>;

std::int32_t to_offset(Dwarf_Word number) {
    return static_cast<std::int32_t>(static_cast<std::int64_t>(number));
}

bool is_breg(const Dwarf_Op& op) { return op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31; }

// libdw gives a rule of register and offset as bregx, and expressions as they stand.
std::optional<std::pair<std::uint8_t, std::int32_t>> as_register_plus(const Dwarf_Op& op) {
    if (op.atom == DW_OP_bregx) return std::pair(op.number, to_offset(op.number2));
    if (is_breg(op)) return std::pair(op.atom - DW_OP_breg0, to_offset(op.number));
    return std::nullopt;
}

// breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl, plus
bool is_plt(Ops ops) {
    constexpr std::array<int, 9> kAtoms = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, -1,
                                           DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus};
    if (ops.size() != kAtoms.size() || to_offset(ops[0].number) != 8 || ops[1].number != 0) {
        return false;
    }
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (kAtoms[i] >= 0 && ops[i].atom != kAtoms[i]) return false;
    }
    return ops[4].atom >= DW_OP_lit0 && ops[4].atom <= DW_OP_lit15;
}

void translate_cfa(Ops ops, UnwindRule& rule) {
    rule.cfa = CfaKind::kExpression;
    if (is_plt(ops)) {
        rule.cfa = CfaKind::kPlt;
        rule.cfa_offset = ops[4].atom - DW_OP_lit0;
        return;
    }
    const auto start = ops.empty() ? std::nullopt : as_register_plus(ops[0]);
    if (!start) return;
    const bool plain = ops.size() == 1;
    const bool dereferenced = ops.size() == 2 && ops[1].atom == DW_OP_deref;
    const bool adjusted =
        ops.size() == 3 && ops[1].atom == DW_OP_deref && ops[2].atom == DW_OP_plus_uconst;
    if (!plain && !dereferenced && !adjusted) return;
    rule.cfa = plain ? CfaKind::kRegisterOffset : CfaKind::kDerefRegister;
    rule.cfa_register = start->first;
    rule.cfa_offset = start->second;
    rule.cfa_addend = adjusted ? to_offset(ops[2].number) : 0;
}

// How libdw says where a register of the caller is.
struct Location {
    enum Kind { kSame, kUndefined, kAtCfa, kInRegister, kAtRbp, kExpression } kind = kExpression;
    std::int32_t offset = 0;
};

Location locate(Dwarf_Frame* frame, int register_number) {
    std::array<Dwarf_Op, 3> memory{};
    Dwarf_Op* first = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_register(frame, register_number, memory.data(), &first, &count) != 0) return {};
    if (count == 0) return {first == nullptr ? Location::kSame : Location::kUndefined, 0};
    const Ops ops(first, count);
    if (count == 1 && ops[0].atom == DW_OP_regx) {
        return {Location::kInRegister, to_offset(ops[0].number)};
    }
    if (ops[0].atom != DW_OP_call_frame_cfa) return {};
    if (count == 1) return {Location::kAtCfa, 0};
    if (count == 2 && ops[1].atom == DW_OP_plus_uconst) {
        return {Location::kAtCfa, to_offset(ops[1].number)};
    }
    // An expression finds the CFA on the stack and may leave it there.
    if (count == 2 && ops[1].atom == DW_OP_breg6) {
        return {Location::kAtRbp, to_offset(ops[1].number)};
    }
    return {};
}

void translate_rbp(const Location& location, UnwindRule& rule) {
    constexpr std::array kKinds = {RbpKind::kSame,       RbpKind::kUndefined, RbpKind::kAtCfa,
                                   RbpKind::kInRegister, RbpKind::kAtRbp,     RbpKind::kExpression};
    rule.rbp = kKinds[location.kind];
    rule.rbp_offset = location.offset;
}

std::uint8_t to_rbx_words(const Location& location) {
    // Of a register that no instruction names libdw says undefined; the psABI has rbx preserved.
    if (location.kind == Location::kSame || location.kind == Location::kUndefined) return 1;
    const bool fits = location.kind == Location::kAtCfa && location.offset <= -16 &&
                      location.offset >= -2040 && location.offset % 8 == 0;
    return fits ? static_cast<std::uint8_t>(location.offset / -8) : 0;
}

void translate_return_address(const Location& location, UnwindRule& rule) {
    constexpr std::array kKinds = {ReturnAddressKind::kExpression, ReturnAddressKind::kUndefined,
                                   ReturnAddressKind::kAtCfa,      ReturnAddressKind::kInRegister,
                                   ReturnAddressKind::kExpression, ReturnAddressKind::kExpression};
    rule.return_address = kKinds[location.kind];
    if (rule.return_address != ReturnAddressKind::kExpression) rule.ra_offset = location.offset;
}

}  // namespace

struct LibdwRules::Handles {
    UniqueFd fd;
    ::Elf* elf = nullptr;
    Dwarf_CFI* cfi = nullptr;  // of `elf`
};

LibdwRules::LibdwRules(const std::string& path) : handles_(std::make_unique<Handles>()) {
    ::elf_version(EV_CURRENT);
    handles_->fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    handles_->elf = ::elf_begin(handles_->fd.get(), ELF_C_READ_MMAP, nullptr);
    handles_->cfi = ::dwarf_getcfi_elf(handles_->elf);
}

LibdwRules::~LibdwRules() {
    ::dwarf_cfi_end(handles_->cfi);
    ::elf_end(handles_->elf);
}

bool LibdwRules::is_open() const { return handles_->cfi != nullptr; }

LibdwAnswer LibdwRules::rule_at(std::uint64_t file_vaddr) const {
    Dwarf_Frame* found = nullptr;
    if (::dwarf_cfi_addrframe(handles_->cfi, file_vaddr, &found) != 0) {
        const std::string_view reason = ::dwarf_errmsg(-1);
        return {.refused = reason != "no matching address range", .rule = {}};
    }
    const std::unique_ptr<Dwarf_Frame, void (*)(void*)> frame(found, ::free);
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    if (::dwarf_frame_cfa(frame.get(), &ops, &count) != 0) return {.refused = true, .rule = {}};
    if (count == 0) return {};
    UnwindRule rule;
    translate_cfa({ops, count}, rule);
    translate_rbp(locate(frame.get(), cfi::kRbp), rule);
    translate_return_address(locate(frame.get(), cfi::kReturnAddress), rule);
    ::dwarf_frame_info(frame.get(), nullptr, nullptr, &rule.signal_frame);
    return {
        .refused = false, .rule = rule, .rbx_words = to_rbx_words(locate(frame.get(), cfi::kRbx))};
}

std::string to_text(const UnwindRule& rule) {
    return fmt::format(
        "cfa kind {} register {} offset {} addend {}; rbp kind {} {}; ra kind {} {}{}; rbx {}",
        static_cast<int>(rule.cfa), rule.cfa_register, rule.cfa_offset, rule.cfa_addend,
        static_cast<int>(rule.rbp), rule.rbp_offset, static_cast<int>(rule.return_address),
        rule.ra_offset, rule.signal_frame ? "; signal frame" : "", rule.rbx_words);
}

}  // namespace bobbin::test
