// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.h"
#include "cfi/cie_fde.h"
#include "cfi/row_writer.h"
#include "cfi/rule_set.h"
#include "cfi/unwind_row.h"

namespace bobbin::cfi {

// Interprets call frame instructions, DWARF 5 section 6.4.2, and keeps of them what UnwindRule has
// room for. Each instruction costs constant time beyond its own bytes. One object serves a whole
// section, so that no function allocates.
class CfaProgram {
public:
    // With `follow_rbx` rules say where the caller's rbx is.
    explicit CfaProgram(RuleSet& rules, bool follow_rbx = false)
        : rules_(rules), follow_rbx_(follow_rbx) {}

    // Fills in the rule in which every function of `cie` begins. False: malformed.
    bool run_initial(Cie& cie);

    // Where the instructions of one function lie, and which of its addresses are still to be given
    // rows: those from `first_file_vaddr` on.
    struct Function {
        std::span<const std::byte> instructions;
        std::uint64_t instructions_file_vaddr = 0;
        std::uint64_t start_file_vaddr = 0;
        std::uint64_t end_file_vaddr = 0;
        std::uint64_t first_file_vaddr = 0;
    };
    // Appends the rows of `function` and a "no CFI" row at its end. False: malformed; some rows may
    // have been appended by then. Instructions for addresses past the end are not looked at.
    bool run(const Cie& cie, const Function& function, RowWriter& rows);

private:
    void begin(const Cie& cie, const Function& function, RowWriter* rows);
    void begin_with(const UnwindRule& rule, std::uint32_t rule_number);
    bool execute();
    bool step(std::uint8_t opcode);
    bool step_extended(std::uint8_t opcode);
    bool step_rare(std::uint8_t opcode);
    bool step_location(std::uint8_t opcode);
    bool step_cfa(std::uint8_t opcode);
    bool step_register(std::uint8_t opcode);

    bool advance(std::uint64_t delta);
    bool move_to(std::uint64_t file_vaddr);
    bool append_row();
    bool number_rule();
    UnwindRule& change_rule();

    bool define_cfa(std::uint64_t register_number, std::int64_t offset);
    bool define_cfa_register(std::uint64_t register_number);
    bool define_cfa_offset(std::int64_t offset);
    bool define_cfa_expression();

    bool save_at_cfa(std::uint64_t register_number, std::int64_t offset);
    void set_rbp(RbpKind kind, std::int32_t offset);
    void set_rbx(std::uint8_t words);
    void set_return_address(ReturnAddressKind kind, std::int32_t offset);
    void set_unrecoverable(std::uint64_t register_number);
    void set_same(std::uint64_t register_number);
    bool save_in_register(std::uint64_t register_number, std::uint64_t holder);
    void set_computed(std::uint64_t register_number);
    void set_expression(std::uint64_t register_number);
    void restore(std::uint64_t register_number);
    bool remember_state();
    bool restore_state();

    // Offsets beyond 32 bits come as one that no rule takes.
    std::int64_t read_offset();
    std::int64_t read_factored();
    std::int64_t read_factored_signed();
    [[nodiscard]] std::int64_t scale(std::int64_t factored) const;

    // What DW_CFA_remember_state keeps. The register and offset outlive an expression for the CFA:
    // perlasm ends one with DW_CFA_def_cfa_register and means the offset of before, as libgcc does.
    struct State {
        UnwindRule rule;
        std::uint8_t cfa_register = 0;
        std::int32_t cfa_offset = 0;
        std::uint32_t rule_number = RuleSet::kNoNumber;  // kNoNumber: not asked for yet
    };

    RuleSet& rules_;
    bool follow_rbx_ = false;
    std::vector<State> remembered_;

    const Cie* cie_ = nullptr;
    RowWriter* rows_ = nullptr;  // nullptr: the initial instructions of a CIE
    Function function_;
    ByteReader in_;
    std::uint64_t location_file_vaddr_ = 0;
    State state_;
};

}  // namespace bobbin::cfi
