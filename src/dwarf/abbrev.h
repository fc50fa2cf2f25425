// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_reader.h"

namespace bobbin::dwarf {

// How wide a unit's offsets and addresses are.
struct Encoding {
    std::uint16_t version = 0;
    std::uint8_t offset_bytes = 4;   // 8: DWARF64
    std::uint8_t address_bytes = 8;  // 4: x32

    friend bool operator==(const Encoding&, const Encoding&) = default;
};

struct Attribute {
    std::uint16_t name = 0;
    std::uint16_t form = 0;
    std::int16_t fixed_bytes = -1;  // of the value; -1: it depends, or was not looked up
    std::int64_t implicit_const = 0;
};

// One of DW_AT_low_pc, high_pc and ranges, behind so many bytes from where the one before it ends.
struct CodeField {
    Attribute attribute;
    std::uint32_t skip_bytes = 0;
};

// One declaration of .debug_abbrev, ready to be passed over: most DIEs are.
struct Abbrev {
    std::uint64_t code = 0;
    std::uint16_t tag = 0;
    bool has_children = false;
    bool has_sibling = false;
    bool has_code = false;  // states addresses: no declaration, no abstract instance
    std::uint32_t first_attribute = 0;
    std::uint32_t attribute_count = 0;
    // Passes over all attributes, or those before DW_AT_sibling, which gives its form.
    std::uint32_t first_skip = 0;
    std::uint32_t skip_count = 0;
    std::uint32_t sibling_skip_count = 0;
    std::uint16_t sibling_form = 0;
    // Of all attributes, and of those before DW_AT_sibling; -1: it depends.
    std::int32_t fixed_bytes = -1;
    std::int32_t bytes_before_sibling = -1;
    // Its code fields; none though it has code: something between them has no fixed size.
    std::uint32_t first_code_field = 0;
    std::uint32_t code_field_count = 0;
};

// The abbreviations of one unit, compiled for its encoding: a DIE is passed over by a few additions
// instead of a look at each of its forms.
class AbbrevTable {
public:
    // Reads up to the zero that ends a table or to what makes no sense: what came before is kept.
    static AbbrevTable read(std::span<const std::byte> bytes, Encoding encoding);

    // nullptr: no such code. Codes are 1, 2, 3 ... in everything that compilers and dwz write.
    [[nodiscard]] const Abbrev* find(std::uint64_t code) const {
        if (is_dense_) return code - 1 < abbrevs_.size() ? &abbrevs_[code - 1] : nullptr;
        return search(code);
    }
    [[nodiscard]] std::span<const Attribute> attributes_of(const Abbrev& abbrev) const {
        return std::span(attributes_).subspan(abbrev.first_attribute, abbrev.attribute_count);
    }

    [[nodiscard]] std::span<const CodeField> code_fields_of(const Abbrev& abbrev) const {
        return std::span(code_fields_).subspan(abbrev.first_code_field, abbrev.code_field_count);
    }

    void skip(ByteReader& die, const Abbrev& abbrev) const {
        if (abbrev.fixed_bytes >= 0) {
            die.skip(static_cast<std::uint64_t>(abbrev.fixed_bytes));
        } else {
            run(die, abbrev.first_skip, abbrev.skip_count);
        }
    }
    // To the value of DW_AT_sibling, of an abbreviation that has one.
    void skip_to_sibling(ByteReader& die, const Abbrev& abbrev) const {
        if (abbrev.bytes_before_sibling >= 0) {
            die.skip(static_cast<std::uint64_t>(abbrev.bytes_before_sibling));
        } else {
            run(die, abbrev.first_skip, abbrev.sibling_skip_count);
        }
    }

    // Whether its end was seen.
    [[nodiscard]] bool is_whole() const { return is_whole_; }
    [[nodiscard]] std::size_t memory_bytes() const {
        return abbrevs_.capacity() * sizeof(Abbrev) + attributes_.capacity() * sizeof(Attribute) +
               code_fields_.capacity() * sizeof(CodeField) + skips_.capacity();
    }

private:
    [[nodiscard]] const Abbrev* search(std::uint64_t code) const;
    bool read_attributes(ByteReader& reader, Abbrev& abbrev);
    void add_skips(Abbrev& abbrev);
    void add_code_fields(Abbrev& abbrev);
    void run(ByteReader& die, std::uint32_t first, std::uint32_t count) const;

    std::vector<Abbrev> abbrevs_;
    std::vector<Attribute> attributes_;
    std::vector<CodeField> code_fields_;
    // Below Length::kUleb (form.h): so many bytes; else that.
    std::vector<std::uint8_t> skips_;
    bool is_dense_ = true;
    bool is_whole_ = false;
    Encoding encoding_;
};

}  // namespace bobbin::dwarf
