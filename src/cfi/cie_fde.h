// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/byte_reader.h"
#include "cfi/plain_rule.h"
#include "cfi/unwind_row.h"

namespace bobbin::cfi {

// The two sections that hold call frame information differ in how entries name each other.
enum class SectionKind : std::uint8_t {
    kEhFrame,     // LSB 5.0 chapter 10.6
    kDebugFrame,  // DWARF 5 section 6.4.1
};

enum class EntryKind : std::uint8_t {
    kCie,
    kFde,
    kMalformed,  // too short for its id, or an FDE that points out of the section
};

// One entry of the section, not yet understood.
struct Entry {
    EntryKind kind = EntryKind::kMalformed;
    std::uint32_t section_offset = 0;      // of its length field: how FDEs name their CIE
    std::uint32_t cie_section_offset = 0;  // of an FDE
    std::uint32_t body_section_offset = 0;
    std::span<const std::byte> body;  // what follows the id
};

// Walks the entries of a section of less than 4 GiB, from length to length.
class EntryReader {
public:
    explicit EntryReader(std::span<const std::byte> section,
                         SectionKind kind = SectionKind::kEhFrame)
        : section_(section), kind_(kind), reader_(section) {}

    // nullopt at the end: of the section, at a length of zero in .eh_frame (LSB 5.0 section
    // 10.6.1), or at one that leaves the section.
    std::optional<Entry> next();
    // Why reading ended early; empty if it did not.
    [[nodiscard]] const std::string& stopped() const { return stopped_; }

private:
    struct Length {
        std::uint64_t value = 0;
        bool is_64_bit = false;
    };
    std::optional<Length> read_length();
    [[nodiscard]] Entry read_entry(std::size_t section_offset, Length length);
    static void read_eh_frame_id(ByteReader& body, std::size_t id_offset, Entry& entry);
    void read_debug_frame_id(ByteReader& body, bool is_64_bit, Entry& entry) const;

    std::span<const std::byte> section_;
    SectionKind kind_ = SectionKind::kEhFrame;
    ByteReader reader_;
    std::string stopped_;
};

// What the FDEs of one CIE share.
struct Cie {
    std::uint32_t section_offset = 0;
    std::uint8_t pointer_encoding = 0;  // readable
    bool sized_augmentation = false;    // FDEs carry augmentation data too
    bool signal_frame = false;
    std::uint64_t code_alignment = 1;
    std::int64_t data_alignment = 1;
    std::span<const std::byte> initial_instructions;
    // What those make, and its number in the section's rules; filled in by their interpreter.
    UnwindRule initial_rule;
    std::uint32_t initial_rule_number = 0;
    // Also filled in by it; nullopt: its functions need the whole interpreter.
    std::optional<PlainRule> plain_initial_rule;
};

// One function's rows, still as a program.
struct Fde {
    std::uint64_t start_file_vaddr = 0;
    std::uint64_t end_file_vaddr = 0;
    std::uint32_t cie_index = 0;
    std::uint32_t instructions_section_offset = 0;
    std::uint32_t instructions_size_bytes = 0;

    // A removed function, or one of no bytes: nothing to unwind and nothing wrong.
    [[nodiscard]] bool is_empty() const { return end_file_vaddr == start_file_vaddr; }
};

// nullopt: malformed, or of a kind that no x86-64 compiler writes (versions other than 1, 3 and 4,
// the augmentation "eh" of gcc 2, another return address column than 16).
std::optional<Cie> parse_cie(const Entry& entry);

// nullopt: malformed. `cie_index` is left at 0.
std::optional<Fde> parse_fde(const Entry& entry, const Cie& cie, std::uint64_t section_file_vaddr);

}  // namespace bobbin::cfi
