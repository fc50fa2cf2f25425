// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf/budget.h"
#include "dwarf/unit.h"

namespace bobbin::dwarf {

// A row of a line table, as far as a profile needs it.
struct LineRow {
    std::uint64_t file = 0;  // a number of the table
    std::uint32_t line = 0;  // 0: made by the compiler, or no row at all
    bool is_known = false;
};

// The line table of one unit, versions 2 to 5. Rows are never stored: the program runs once over
// the addresses asked for. Valid until the next table of the same file is read.
class LineTable {
public:
    // nullopt: the unit has none, or its header makes no sense. `unit` must outlive the table; of a
    // split unit it is the skeleton.
    static std::optional<LineTable> read(const Unit& unit);

    // The row of each of `vaddrs`, which ascend: the last one at or before it in its sequence.
    // Where sequences overlap, the first has the address.
    [[nodiscard]] std::vector<LineRow> find_rows(std::span<const std::uint64_t> vaddrs,
                                                 Budget& budget) const;

    [[nodiscard]] std::size_t file_count() const { return files_.size(); }
    // Directory and name joined, below the unit's directory if it is known; empty: no such file.
    [[nodiscard]] std::string path_of(std::uint64_t file) const;

    struct Header {
        Encoding encoding;
        std::uint8_t min_instruction_bytes = 1;
        std::int8_t line_base = 0;
        std::uint8_t line_range = 1;
        std::uint8_t opcode_base = 1;
        std::array<std::uint8_t, 256> operand_counts{};
    };

private:
    // Looked up only for the files that are asked for: a unit of ceph has 2,000.
    struct Text {
        std::string_view inlined;
        std::uint16_t form = 0;
        std::uint64_t raw = 0;
    };
    struct File {
        Text name;
        std::uint64_t directory = 0;
    };

    bool read_header(std::span<const std::byte> bytes);
    void read_names(ByteReader& reader);
    bool read_entries(ByteReader& reader, std::vector<File>& entries) const;
    void read_value(ByteReader& reader, std::uint64_t content, const Attribute& value,
                    File& file) const;
    [[nodiscard]] std::string text_of(const Text& text) const;

    const Unit* unit_ = nullptr;
    Header header_;
    std::vector<File> directories_;
    std::vector<File> files_;
    std::span<const std::byte> program_;
};

}  // namespace bobbin::dwarf
