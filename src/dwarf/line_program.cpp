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
    ByteReader program(bytes);
    while (!program.at_end() && budget.spend(1)) {
        const std::uint8_t opcode = program.u8();
        if (opcode < header_.opcode_base) {
            execute(program, opcode);
            continue;
        }
        now_.vaddr += vaddr_steps_[opcode];
        now_.line += static_cast<std::uint32_t>(line_steps_[opcode]);
        emit_row();
    }
    return std::move(rows_);
}

void LineProgram::execute(ByteReader& program, std::uint8_t opcode) {
    switch (opcode) {
        case kLnsExtended:
            execute_extended(program);
            break;
        case kLnsCopy:
            emit_row();
            break;
        case kLnsAdvancePc:
            now_.vaddr += program.uleb128() * header_.min_instruction_bytes;
            break;
        case kLnsAdvanceLine:
            now_.line += static_cast<std::uint32_t>(program.sleb128());
            break;
        case kLnsSetFile:
            now_.file = program.uleb128();
            break;
        case kLnsSetColumn:
            program.uleb128();
            break;
        case kLnsConstAddPc:
            now_.vaddr += vaddr_steps_[255];
            break;
        case kLnsFixedAdvancePc:
            now_.vaddr += program.u16();
            break;
        default:
            for (unsigned i = 0; i < header_.operand_counts[opcode]; ++i) program.uleb128();
            break;
    }
}

void LineProgram::execute_extended(ByteReader& program) {
    const std::uint64_t size = program.uleb128();
    const std::span<const std::byte> bytes = program.bytes(size);
    ByteReader operand(bytes);
    switch (operand.u8()) {
        case kLneEndSequence:
            end_sequence();
            break;
        case kLneSetAddress: {
            const std::size_t width = std::min<std::size_t>(operand.remaining(), 8);
            now_.vaddr = read_sized(operand, static_cast<unsigned>(width));
            break;
        }
        default:
            break;
    }
}

void LineProgram::emit_row() {
    if (!is_in_sequence_ || now_.vaddr < last_row_.vaddr) {
        begin_sequence();
    } else if (now_.vaddr > next_vaddr_) {
        answer_up_to_here();
    }
    last_row_ = now_;
}

// Also where addresses go back, which no compiler should write. A sequence of code that the linker
// dropped starts at 0, 1, -1 or -2.
void LineProgram::begin_sequence() {
    is_in_sequence_ = true;
    const bool is_dropped = now_.vaddr <= 1 || now_.vaddr >= kNever - 1;
    next_ = is_dropped ? vaddrs_.size()
                       : static_cast<std::size_t>(std::ranges::lower_bound(vaddrs_, now_.vaddr) -
                                                  vaddrs_.begin());
    next_vaddr_ = next_ < vaddrs_.size() ? vaddrs_[next_] : kNever;
}

// Addresses from the last row to this one, not included, are the last row's.
void LineProgram::answer_up_to_here() {
    for (; next_ < vaddrs_.size() && vaddrs_[next_] < now_.vaddr; ++next_) {
        LineRow& row = rows_[next_];
        if (!row.is_known) row = {last_row_.file, last_row_.line, true};
    }
    next_vaddr_ = next_ < vaddrs_.size() ? vaddrs_[next_] : kNever;
}

void LineProgram::end_sequence() {
    if (is_in_sequence_ && now_.vaddr > next_vaddr_) answer_up_to_here();
    is_in_sequence_ = false;
    now_ = {};
}

}  // namespace bobbin::dwarf
