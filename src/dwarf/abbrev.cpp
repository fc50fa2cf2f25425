// SPDX-License-Identifier: Apache-2.0
#include "dwarf/abbrev.h"

#include <algorithm>

#include "dwarf/constants.h"
#include "dwarf/form.h"

namespace bobbin::dwarf {
namespace {

// ceph-mds has 330 abbreviations a unit, libxul's largest unit 4,000.
constexpr std::size_t kMaxAbbrevs = 1U << 18;
// Of one abbreviation; compilers write up to 20. One without a bound would make each byte of a unit
// cost as many steps.
constexpr std::uint32_t kMaxAttributes = 128;

constexpr unsigned kMaxSkipBytes = static_cast<unsigned>(Length::kUleb) - 1;

}  // namespace

AbbrevTable AbbrevTable::read(std::span<const std::byte> bytes, Encoding encoding) {
    AbbrevTable table;
    table.encoding_ = encoding;
    ByteReader reader(bytes);
    while (table.abbrevs_.size() < kMaxAbbrevs) {
        Abbrev abbrev;
        abbrev.code = reader.uleb128();
        table.is_whole_ = reader.ok() && abbrev.code == 0;
        if (!reader.ok() || abbrev.code == 0) break;
        abbrev.tag = static_cast<std::uint16_t>(reader.uleb128());
        abbrev.has_children = reader.u8() != 0;
        if (!table.read_attributes(reader, abbrev)) break;
        table.add_skips(abbrev);
        table.add_code_fields(abbrev);
        table.abbrevs_.push_back(abbrev);
        table.is_dense_ = table.is_dense_ && abbrev.code == table.abbrevs_.size();
    }
    if (!table.is_dense_) std::ranges::stable_sort(table.abbrevs_, {}, &Abbrev::code);
    return table;
}

bool AbbrevTable::read_attributes(ByteReader& reader, Abbrev& abbrev) {
    abbrev.first_attribute = static_cast<std::uint32_t>(attributes_.size());
    while (abbrev.attribute_count < kMaxAttributes) {
        Attribute attribute;
        const std::uint64_t name = reader.uleb128();
        const std::uint64_t form = reader.uleb128();
        if (form == kFormImplicitConst) attribute.implicit_const = reader.sleb128();
        if (!reader.ok() || name > UINT16_MAX || form > UINT16_MAX) return false;
        if (name == 0 && form == 0) return true;
        attribute.name = static_cast<std::uint16_t>(name);
        attribute.form = static_cast<std::uint16_t>(form);
        attribute.fixed_bytes = static_cast<std::int16_t>(fixed_size_of(attribute.form, encoding_));
        attributes_.push_back(attribute);
        ++abbrev.attribute_count;
    }
    return false;
}

void AbbrevTable::add_skips(Abbrev& abbrev) {
    abbrev.first_skip = static_cast<std::uint32_t>(skips_.size());
    unsigned pending_bytes = 0;
    const auto flush = [&] {
        for (; pending_bytes > 0; pending_bytes -= std::min(pending_bytes, kMaxSkipBytes)) {
            skips_.push_back(static_cast<std::uint8_t>(std::min(pending_bytes, kMaxSkipBytes)));
        }
        return static_cast<std::uint32_t>(skips_.size() - abbrev.first_skip);
    };
    std::int32_t all_bytes = 0;
    bool is_fixed = true;
    for (const Attribute& attribute : attributes_of(abbrev)) {
        if (attribute.name == kAtSibling && !abbrev.has_sibling) {
            abbrev.has_sibling = true;
            abbrev.sibling_form = attribute.form;
            abbrev.sibling_skip_count = flush();
            if (is_fixed) abbrev.bytes_before_sibling = all_bytes;
        }
        const std::int32_t size = attribute.fixed_bytes;
        if (size < 0) {
            flush();
            skips_.push_back(static_cast<std::uint8_t>(length_of(attribute.form)));
            is_fixed = false;
            continue;
        }
        pending_bytes += static_cast<unsigned>(size);
        all_bytes += size;
    }
    abbrev.skip_count = flush();
    abbrev.fixed_bytes = is_fixed ? all_bytes : -1;
}

void AbbrevTable::add_code_fields(Abbrev& abbrev) {
    std::vector<CodeField> fields;
    std::uint32_t skip_bytes = 0;
    bool is_fixed = true;
    bool are_fixed = true;
    for (const Attribute& attribute : attributes_of(abbrev)) {
        const bool is_start = attribute.name == kAtLowPc || attribute.name == kAtRanges;
        abbrev.has_code |= is_start;
        if (is_start || attribute.name == kAtHighPc) {
            fields.push_back({attribute, skip_bytes});
            skip_bytes = 0;
            are_fixed = is_fixed;
        } else if (attribute.fixed_bytes >= 0) {
            skip_bytes += static_cast<std::uint32_t>(attribute.fixed_bytes);
        } else {
            is_fixed = false;
        }
    }
    if (!abbrev.has_code || !are_fixed) return;
    abbrev.first_code_field = static_cast<std::uint32_t>(code_fields_.size());
    abbrev.code_field_count = static_cast<std::uint32_t>(fields.size());
    code_fields_.insert(code_fields_.end(), fields.begin(), fields.end());
}

void AbbrevTable::run(ByteReader& die, std::uint32_t first, std::uint32_t count) const {
    for (std::uint32_t i = first; i < first + count; ++i) {
        const std::uint8_t skip = skips_[i];
        if (skip <= kMaxSkipBytes) {
            die.skip(skip);
        } else {
            skip_value(die, static_cast<Length>(skip), encoding_);
        }
    }
}

const Abbrev* AbbrevTable::search(std::uint64_t code) const {
    const auto found = std::ranges::lower_bound(abbrevs_, code, {}, &Abbrev::code);
    return found != abbrevs_.end() && found->code == code ? &*found : nullptr;
}

}  // namespace bobbin::dwarf
