// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "cfi/unwind_row.h"

namespace bobbin::cfi::test {

// Bytes as DWARF writes them.
class Bytes {
public:
    Bytes() = default;
    Bytes(std::initializer_list<int> values) {
        for (const int value : values) u8(value);
    }

    Bytes& u8(int value) {
        bytes_.push_back(static_cast<std::byte>(value));
        return *this;
    }
    Bytes& u16(std::uint64_t value) { return little_endian(value, 2); }
    Bytes& u32(std::uint64_t value) { return little_endian(value, 4); }
    Bytes& u64(std::uint64_t value) { return little_endian(value, 8); }
    Bytes& uleb128(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) u8(static_cast<int>(value & 0x7f) | 0x80);
        return u8(static_cast<int>(value));
    }
    Bytes& sleb128(std::int64_t value) {
        for (; value < -64 || value > 63; value >>= 7) u8(static_cast<int>(value & 0x7f) | 0x80);
        return u8(static_cast<int>(value & 0x7f));
    }
    Bytes& text(std::string_view value) {
        for (const char c : value) u8(c);
        return u8(0);
    }
    Bytes& append(const Bytes& other) {
        bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
        return *this;
    }
    // Length first, as DW_FORM_block and DW_CFA_expression have it.
    Bytes& block(const Bytes& other) { return uleb128(other.size()).append(other); }

    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] std::span<const std::byte> view() const { return bytes_; }
    [[nodiscard]] std::vector<std::byte>& storage() { return bytes_; }

private:
    Bytes& little_endian(std::uint64_t value, int count) {
        for (int i = 0; i < count; ++i) u8(static_cast<int>(value >> (8 * i) & 0xff));
        return *this;
    }

    std::vector<std::byte> bytes_;
};

inline constexpr int kUdata8 = 0x04;

// DW_CFA_def_cfa rsp, 8; DW_CFA_offset ra, 1 (times -8): what each x86-64 CIE begins with, since
// the call has just pushed the return address.
inline const Bytes kAtEntry = {0x0c, 7, 8, 0x90, 1};

struct CieFields {
    int version = 1;
    std::string_view augmentation = "zR";
    Bytes augmentation_data = {kUdata8};
    std::uint64_t code_alignment = 1;
    std::int64_t data_alignment = -8;
    std::uint64_t return_address = 16;
    Bytes instructions = kAtEntry;
};

// An .eh_frame by hand. Pointers of its FDEs are udata8 unless their CIE says otherwise.
class SectionBuilder {
public:
    // Each gives the offset of the entry.
    std::uint32_t add_cie(const CieFields& fields = {}) {
        Bytes body;
        body.u32(0).u8(fields.version).text(fields.augmentation);
        if (fields.version == 4) body.u8(8).u8(0);
        body.uleb128(fields.code_alignment).sleb128(fields.data_alignment);
        body.uleb128(fields.return_address);
        if (fields.augmentation.starts_with('z')) body.block(fields.augmentation_data);
        return add_entry(body.append(fields.instructions));
    }
    std::uint32_t add_fde(std::uint32_t cie_offset, std::uint64_t start, std::uint64_t length,
                          const Bytes& instructions = {}) {
        return add_fde_with_pointers(cie_offset, Bytes().u64(start).u64(length),
                                     Bytes().block({}).append(instructions));
    }
    std::uint32_t add_fde_with_pointers(std::uint32_t cie_offset, const Bytes& pointers,
                                        const Bytes& rest) {
        const std::uint64_t id_offset = section_.size() + 4;
        return add_entry(Bytes().u32(id_offset - cie_offset).append(pointers).append(rest));
    }
    std::uint32_t add_entry(const Bytes& body) {
        const auto offset = static_cast<std::uint32_t>(section_.size());
        section_.u32(body.size()).append(body);
        return offset;
    }
    SectionBuilder& append(const Bytes& bytes) {
        section_.append(bytes);
        return *this;
    }

    [[nodiscard]] std::span<const std::byte> view() const { return section_.view(); }
    [[nodiscard]] std::size_t size() const { return section_.size(); }
    [[nodiscard]] std::vector<std::byte>& storage() { return section_.storage(); }

private:
    Bytes section_;
};

// cfa = rsp + 8; ra = *(cfa - 8)
inline UnwindRule rule_at_entry() {
    UnwindRule rule;
    rule.cfa = CfaKind::kRegisterOffset;
    rule.cfa_register = kRsp;
    rule.cfa_offset = 8;
    rule.ra_offset = -8;
    return rule;
}

}  // namespace bobbin::cfi::test
