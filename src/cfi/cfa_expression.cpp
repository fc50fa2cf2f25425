// SPDX-License-Identifier: Apache-2.0
#include "cfi/cfa_expression.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/byte_reader.h"

namespace bobbin::cfi {
namespace {

// DWARF 5 section 7.7.1.
constexpr std::uint8_t kDeref = 0x06;
constexpr std::uint8_t kPlusUconst = 0x23;
constexpr std::uint8_t kLit0 = 0x30;
constexpr std::uint8_t kBreg0 = 0x70;
constexpr std::uint8_t kBreg31 = 0x8f;
constexpr std::uint8_t kBregx = 0x92;

struct RegisterPlus {
    std::uint8_t number = 0;
    std::int32_t offset = 0;
};

std::optional<std::int32_t> to_int32(std::int64_t value) {
    if (value != static_cast<std::int32_t>(value)) return std::nullopt;
    return static_cast<std::int32_t>(value);
}

// DW_OP_bregN o, DW_OP_bregx n o.
std::optional<RegisterPlus> read_register_plus(ByteReader& reader) {
    const std::uint8_t opcode = reader.u8();
    std::uint64_t number = 0;
    if (opcode >= kBreg0 && opcode <= kBreg31) {
        number = opcode - kBreg0;
    } else if (opcode == kBregx) {
        number = reader.uleb128();
    } else {
        return std::nullopt;
    }
    const std::optional<std::int32_t> offset = to_int32(reader.sleb128());
    if (!reader.ok() || !offset || number > std::numeric_limits<std::uint8_t>::max()) {
        return std::nullopt;
    }
    return RegisterPlus{static_cast<std::uint8_t>(number), *offset};
}

// What ld writes for .plt, and with another threshold for .plt with IBT or retpolines:
//   breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus
std::optional<std::int32_t> match_plt(std::span<const std::byte> expression) {
    constexpr std::array<std::uint8_t, 11> kPlt = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                                   0x00, 0x2a, 0x33, 0x24, 0x22};
    constexpr std::size_t kThresholdAt = 6;
    constexpr int kMaxThreshold = 15;
    if (expression.size() != kPlt.size()) return std::nullopt;
    for (std::size_t i = 0; i < kPlt.size(); ++i) {
        if (i != kThresholdAt && std::to_integer<std::uint8_t>(expression[i]) != kPlt[i]) {
            return std::nullopt;
        }
    }
    const int threshold = std::to_integer<int>(expression[kThresholdAt]) - kLit0;
    if (threshold < 0 || threshold > kMaxThreshold) return std::nullopt;
    return threshold;
}

// reg+o, or *(reg+o) and then any additions.
bool match_address(std::span<const std::byte> expression, UnwindRule& rule) {
    ByteReader reader(expression);
    const std::optional<RegisterPlus> address = read_register_plus(reader);
    if (!address) return false;
    std::int64_t addend = 0;
    const bool dereferenced = !reader.at_end();
    if (dereferenced && reader.u8() != kDeref) return false;
    while (!reader.at_end()) {
        if (reader.u8() != kPlusUconst) return false;
        const std::uint64_t constant = reader.uleb128();
        if (constant > std::numeric_limits<std::int32_t>::max()) return false;
        addend += static_cast<std::int64_t>(constant);
    }
    const std::optional<std::int32_t> addend_32 = to_int32(addend);
    if (!reader.ok() || !addend_32) return false;
    rule.cfa = dereferenced ? CfaKind::kDerefRegister : CfaKind::kRegisterOffset;
    rule.cfa_register = address->number;
    rule.cfa_offset = address->offset;
    rule.cfa_addend = *addend_32;
    return true;
}

}  // namespace

void set_cfa_expression(std::span<const std::byte> expression, UnwindRule& rule) {
    rule.cfa = CfaKind::kExpression;
    rule.cfa_register = 0;
    rule.cfa_offset = 0;
    rule.cfa_addend = 0;
    if (const std::optional<std::int32_t> threshold = match_plt(expression)) {
        rule.cfa = CfaKind::kPlt;
        rule.cfa_offset = *threshold;
        return;
    }
    (void)match_address(expression, rule);
}

void set_rbp_expression(std::span<const std::byte> expression, UnwindRule& rule) {
    ByteReader reader(expression);
    const std::optional<RegisterPlus> address = read_register_plus(reader);
    const bool at_rbp = address && address->number == kRbp && reader.at_end();
    rule.rbp = at_rbp ? RbpKind::kAtRbp : RbpKind::kExpression;
    rule.rbp_offset = at_rbp ? address->offset : 0;
}

}  // namespace bobbin::cfi
