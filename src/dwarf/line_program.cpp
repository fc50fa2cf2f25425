// SPDX-License-Identifier: Apache-2.0
#include "dwarf/line_program.h"

#include <algorithm>

#include "dwarf/constants.h"
#include "dwarf/form.h"

namespace bobbin::dwarf {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

}  // namespace

LineProgram::LineProgram(const LineTable::Header& header, std::span<const std::uint64_t> vaddrs)
    : header_(header), vaddrs_(vaddrs), rows_(vaddrs.size()) {
    for (unsigned opcode = header.opcode_base; opcode < 256; ++opcode) {
        const unsigned adjusted = opcode - header.opcode_base;
        vaddr_steps_[opcode] = adjusted / header.line_range * header.min_instruction_bytes;
        line_steps_[opcode] =
            header.line_base + static_cast<std::int32_t>(adjusted % header.line_range);
    }
}

std::vector<LineRow> LineProgram::run(std::span<const std::byte> bytes, Budget& budget) {
    constexpr unsigned kStepsBetweenLooks = 1024;
    ByteReader program(bytes);
    Registers registers;
    while (!program.at_end() && budget.spend(kStepsBetweenLooks)) {
        for (unsigned i = 0; i < kStepsBetweenLooks && !program.at_end(); ++i) {
            step(program, registers);
        }
    }
    return std::move(rows_);
}

[[gnu::always_inline]] inline void LineProgram::step(ByteReader& program, Registers& registers) {
    const std::uint8_t opcode = program.u8();
    if (opcode < header_.opcode_base) {
        execute(program, opcode, registers);
        return;
    }
    registers.now.vaddr += vaddr_steps_[opcode];
    registers.now.line += static_cast<std::uint32_t>(line_steps_[opcode]);
    emit_row(registers);
}

[[gnu::always_inline]] inline void LineProgram::execute(ByteReader& program, std::uint8_t opcode,
                                                        Registers& registers) {
    State& now = registers.now;
    switch (opcode) {
        case kLnsExtended:
            registers = execute_extended(program.bytes(program.uleb128()), registers);
            break;
        case kLnsCopy:
            emit_row(registers);
            break;
        case kLnsAdvancePc:
            now.vaddr += program.uleb128() * header_.min_instruction_bytes;
            break;
        case kLnsAdvanceLine:
            now.line += static_cast<std::uint32_t>(program.sleb128());
            break;
        case kLnsSetFile:
            now.file = program.uleb128();
            break;
        case kLnsSetColumn:
            program.uleb128();
            break;
        case kLnsConstAddPc:
            now.vaddr += vaddr_steps_[255];
            break;
        case kLnsFixedAdvancePc:
            now.vaddr += program.u16();
            break;
        default:
            for (unsigned i = 0; i < header_.operand_counts[opcode]; ++i) program.uleb128();
            break;
    }
}

LineProgram::Registers LineProgram::execute_extended(std::span<const std::byte> bytes,
                                                     Registers registers) {
    State& now = registers.now;
    ByteReader operand(bytes);
    switch (operand.u8()) {
        case kLneEndSequence:
            if (registers.is_in_sequence && now.vaddr > registers.next_vaddr) {
                answer_up_to(now.vaddr, registers.last_row);
            }
            registers.is_in_sequence = false;
            now = {};
            break;
        case kLneSetAddress: {
            const std::size_t width = std::min<std::size_t>(operand.remaining(), 8);
            now.vaddr = read_sized(operand, static_cast<unsigned>(width));
            break;
        }
        default:
            break;
    }
    return registers;
}

[[gnu::always_inline]] inline void LineProgram::emit_row(Registers& registers) {
    const State& now = registers.now;
    if (!registers.is_in_sequence || now.vaddr < registers.last_row.vaddr) {
        registers.is_in_sequence = true;
        registers.next_vaddr = begin_sequence(now.vaddr);
    } else if (now.vaddr > registers.next_vaddr) {
        registers.next_vaddr = answer_up_to(now.vaddr, registers.last_row);
    }
    registers.last_row = now;
}

// Also where addresses go back, which no compiler should write. A sequence of code that the linker
// dropped starts at 0, 1, -1 or -2.
std::uint64_t LineProgram::begin_sequence(std::uint64_t vaddr) {
    const bool is_dropped = vaddr <= 1 || vaddr >= kNever - 1;
    next_ =
        is_dropped
            ? vaddrs_.size()
            : static_cast<std::size_t>(std::ranges::lower_bound(vaddrs_, vaddr) - vaddrs_.begin());
    return next_ < vaddrs_.size() ? vaddrs_[next_] : kNever;
}

// Addresses from the last row to this one, not included, are the last row's.
std::uint64_t LineProgram::answer_up_to(std::uint64_t vaddr, State last_row) {
    for (; next_ < vaddrs_.size() && vaddrs_[next_] < vaddr; ++next_) {
        LineRow& row = rows_[next_];
        if (!row.is_known) row = {last_row.file, last_row.line, true};
    }
    return next_ < vaddrs_.size() ? vaddrs_[next_] : kNever;
}

}  // namespace bobbin::dwarf
