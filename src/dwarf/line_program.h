// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_reader.h"
#include "dwarf/budget.h"
#include "dwarf/line_table.h"

namespace bobbin::dwarf {

// Runs one line number program (DWARF 5 section 6.2.5) over ascending addresses.
class LineProgram {
public:
    LineProgram(const LineTable::Header& header, std::span<const std::uint64_t> vaddrs);

    std::vector<LineRow> run(std::span<const std::byte> bytes, Budget& budget);

private:
    struct State {
        std::uint64_t vaddr = 0;
        std::uint64_t file = 1;
        std::uint32_t line = 1;
    };

    void execute(ByteReader& program, std::uint8_t opcode);
    void execute_extended(ByteReader& program);
    void emit_row();
    void begin_sequence();
    void answer_up_to_here();
    void end_sequence();

    const LineTable::Header& header_;
    std::span<const std::uint64_t> vaddrs_;
    std::vector<LineRow> rows_;
    // Of special opcodes: what they add (DWARF 5 section 6.2.5.1).
    std::array<std::uint32_t, 256> vaddr_steps_{};
    std::array<std::int32_t, 256> line_steps_{};

    State now_;
    State last_row_;
    bool is_in_sequence_ = false;
    std::size_t next_ = 0;  // the first address that the sequence may still answer
    std::uint64_t next_vaddr_ = 0;
};

}  // namespace bobbin::dwarf
