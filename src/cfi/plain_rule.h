// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cfi/unwind_row.h"

namespace bobbin::cfi {

// A rule of the commonest shape in one word, which takes one instruction to change and needs no
// hashing to find its number: the CFA is rsp or rbp plus an offset, the return address stands right
// below it, and rbp is unchanged or in one of the six words below that.
class PlainRule {
public:
    PlainRule() = default;
    // nullopt: of another shape.
    static std::optional<PlainRule> of(const UnwindRule& rule) {
        const bool by_rbp = rule.cfa_register == kRbp;
        const auto slot = static_cast<std::uint32_t>(-rule.rbp_offset) / kWordBytes;
        const bool plain = rule.cfa == CfaKind::kRegisterOffset &&
                           (by_rbp || rule.cfa_register == kRsp) && rule.cfa_offset >= 0 &&
                           !rule.signal_frame && !rule.changes_stack && !rule.enters_landing_pad &&
                           rule.rbx_words == 0 &&
                           rule.return_address == ReturnAddressKind::kAtCfa &&
                           rule.ra_offset == -8 && rule.rbp_offset % 8 == 0 && slot < kRbpSlots &&
                           rule.rbp == (slot == 0 ? RbpKind::kSame : RbpKind::kAtCfa);
        if (!plain) return std::nullopt;
        PlainRule result;
        result.set_cfa(rule.cfa_register, static_cast<std::uint32_t>(rule.cfa_offset));
        result.set_rbp_slot(slot);
        return result;
    }

    [[nodiscard]] UnwindRule to_rule() const {
        const std::uint32_t slot = rbp_slot();
        UnwindRule rule;
        rule.cfa = CfaKind::kRegisterOffset;
        rule.cfa_register = (word_ & kByRbp) != 0 ? kRbp : kRsp;
        rule.cfa_offset = static_cast<std::int32_t>(word_ & kOffsetMask);
        rule.rbp = slot == 0 ? RbpKind::kSame : RbpKind::kAtCfa;
        rule.rbp_offset = -static_cast<std::int32_t>(slot * kWordBytes);
        rule.ra_offset = -8;
        return rule;
    }

    // `register_number` is rsp or rbp, `offset` at most 2^31 - 1.
    void set_cfa(std::uint64_t register_number, std::uint64_t offset) {
        set_cfa_register(register_number);
        set_cfa_offset(offset);
    }
    void set_cfa_register(std::uint64_t register_number) {
        word_ = (word_ & ~kByRbp) | (register_number == kRbp ? kByRbp : 0);
    }
    void set_cfa_offset(std::uint64_t offset) { word_ = (word_ & ~kOffsetMask) | offset; }
    // rbp stands at cfa - 8 * slot; 0: unchanged.
    void set_rbp_slot(std::uint64_t slot) { word_ = (word_ & ~kSlotMask) | slot << kSlotShift; }
    [[nodiscard]] std::uint32_t rbp_slot() const {
        return static_cast<std::uint32_t>((word_ & kSlotMask) >> kSlotShift);
    }

    // A dense numbering of those with an offset that is a multiple of 8 below 2 KiB: what is found
    // at index() of a table of kIndexes.
    static constexpr std::size_t kIndexes = 4096;
    [[nodiscard]] bool has_index() const { return (word_ & 0xfffff807) == 0; }
    [[nodiscard]] std::size_t index() const { return (word_ >> 3 & 0xff) | word_ >> 24; }

    static constexpr std::uint32_t kRbpSlots = 8;

    friend bool operator==(const PlainRule&, const PlainRule&) = default;

private:
    static constexpr std::uint32_t kWordBytes = 8;
    static constexpr unsigned kSlotShift = 32;
    static constexpr std::uint64_t kOffsetMask = 0xffffffff;
    static constexpr std::uint64_t kSlotMask = std::uint64_t{kRbpSlots - 1} << kSlotShift;
    static constexpr std::uint64_t kByRbp = std::uint64_t{1} << 35;

    std::uint64_t word_ = 0;
};

}  // namespace bobbin::cfi
