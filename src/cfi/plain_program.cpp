// SPDX-License-Identifier: Apache-2.0
#include "cfi/plain_program.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "cfi/cfa_opcode.h"

namespace bobbin::cfi {
namespace {

// Two bytes an instruction of libxul's longest function are 20 KiB.
constexpr std::size_t kMaxFunctionRows = 65536;

// One run over the instructions of a function. Its members stay in registers, since all of it is
// inlined and no address of it is taken. A step that returns false met something not plain.
class PlainRun {
public:
    PlainRun(RuleSet& rules, const CfaProgram::Function& function, std::uint64_t base_file_vaddr,
             PlainRule initial, UnwindRow* out)
        : rules_(rules),
          at_(function.instructions.data()),
          end_(at_ + function.instructions.size()),
          location_(function.start_file_vaddr - base_file_vaddr),
          end_location_(function.end_file_vaddr - base_file_vaddr),
          rule_(initial),
          initial_(initial),
          out_(out) {}

    // Gives the end of the rows written; nullptr: not plain.
    UnwindRow* execute() {
        while (at_ < end_ && location_ < end_location_) {
            if (!step()) return nullptr;
        }
        if (at_ > end_) return nullptr;
        if (location_ < end_location_ && !write_row()) return nullptr;
        *out_ = {static_cast<std::uint32_t>(end_location_), UnwindRows::kNoCfiRule};
        return out_ + 1;
    }

private:
    static constexpr std::uint32_t kTooLong = 0xffffffff;

    [[gnu::always_inline]] bool step() {
        // Half of all instructions: DW_CFA_advance_loc and a DW_CFA_def_cfa_offset of one byte.
        constexpr std::uint32_t kMask = 0x80ffc0;
        constexpr std::uint32_t kPair = kDefCfaOffset << 8 | kAdvanceLoc << 6;
        const auto next = peek<std::uint32_t>();
        if ((next & kMask) == kPair) {
            at_ += 3;
            const bool plain = advance(next & 0x3f);
            rule_.set_cfa_offset(next >> 16 & 0x7f);
            return plain;
        }
        ++at_;
        const std::uint32_t operand = next & 0x3f;
        switch (next >> 6 & 3) {
            case kAdvanceLoc:
                return advance(operand);
            case kOffset:
                return save_at_cfa(operand, read_uleb128());
            case kRestore:
                if (operand == kRbp) rule_.set_rbp_slot(initial_.rbp_slot());
                return true;
            default:
                return step_extended(operand);
        }
    }

    [[gnu::always_inline]] bool step_extended(std::uint32_t opcode) {
        switch (opcode) {
            case kNop:
                skip_padding();
                return true;
            case kAdvanceLoc1:
                return advance(read<std::uint8_t>());
            case kAdvanceLoc2:
                return advance(read<std::uint16_t>());
            case kAdvanceLoc4:
                return advance(read<std::uint32_t>());
            case kDefCfaOffset:
                return define_cfa_offset(read_uleb128());
            case kDefCfaRegister:
                return define_cfa_register(read<std::uint8_t>());
            case kDefCfa: {
                const bool plain = define_cfa_register(read<std::uint8_t>());
                return define_cfa_offset(read_uleb128()) && plain;
            }
            case kRememberState:
                if (remembered_count_ == remembered_.size()) return false;
                remembered_[remembered_count_++] = rule_;
                return true;
            case kRestoreState:
                if (remembered_count_ == 0) return false;
                rule_ = remembered_[--remembered_count_];
                return true;
            case kGnuArgsSize:
                return read_uleb128() != kTooLong;
            default:
                return false;
        }
    }

    [[gnu::always_inline]] bool advance(std::uint64_t delta) {
        if (delta == 0) return true;
        const bool plain = write_row();
        location_ += delta;
        return plain;
    }

    // Of neighbours with one rule the first stands.
    [[gnu::always_inline]] bool write_row() {
        const std::uint32_t number = rules_.number_of(rule_);
        *out_ = {static_cast<std::uint32_t>(location_), number};
        out_ += number != last_number_ ? 1 : 0;
        last_number_ = number;
        return number != RuleSet::kNoNumber;
    }

    [[gnu::always_inline]] bool save_at_cfa(std::uint32_t register_number, std::uint32_t factored) {
        if (register_number == kRbp) {
            rule_.set_rbp_slot(factored & (PlainRule::kRbpSlots - 1));
            return factored != 0 && factored < PlainRule::kRbpSlots;
        }
        return factored != kTooLong && (register_number != kReturnAddress || factored == 1);
    }

    [[gnu::always_inline]] bool define_cfa_register(std::uint64_t register_number) {
        rule_.set_cfa_register(register_number);
        return register_number == kRsp || register_number == kRbp;
    }

    [[gnu::always_inline]] bool define_cfa_offset(std::uint32_t offset) {
        rule_.set_cfa_offset(offset);
        return offset != kTooLong;
    }

    // Entries are padded to a multiple of 8 bytes.
    [[gnu::always_inline]] void skip_padding() {
        const auto rest_bytes = static_cast<unsigned>(end_ - at_);
        if (rest_bytes >= 8) return;
        const std::uint64_t rest =
            peek<std::uint64_t>() & ((std::uint64_t{1} << 8 * rest_bytes) - 1);
        if (rest == 0) at_ = end_;
    }

    // kTooLong: of more than two bytes.
    [[gnu::always_inline]] std::uint32_t read_uleb128() {
        const std::uint32_t bytes = peek<std::uint16_t>();
        at_ += (bytes & 0x80) == 0 ? 1 : 2;
        if ((bytes & 0x80) == 0) return bytes & 0x7f;
        return (bytes & 0x8000) == 0 ? (bytes & 0x7f) | (bytes >> 1 & 0x3f80) : kTooLong;
    }

    template <class T>
    [[gnu::always_inline]] T peek() const {
        T value;
        std::memcpy(&value, at_, sizeof(value));
        return value;
    }
    template <class T>
    [[gnu::always_inline]] T read() {
        const T value = peek<T>();
        at_ += sizeof(value);
        return value;
    }

    RuleSet& rules_;
    const std::byte* at_;
    const std::byte* end_;
    std::uint64_t location_;  // from the base, as rows have it
    std::uint64_t end_location_;
    PlainRule rule_;
    PlainRule initial_;
    UnwindRow* out_;
    std::uint32_t last_number_ = RuleSet::kNoNumber;
    std::array<PlainRule, 4> remembered_;
    std::size_t remembered_count_ = 0;
};

}  // namespace

bool PlainProgram::run(const Cie& cie, const CfaProgram::Function& function, RowWriter& rows) {
    if (!cie.plain_initial_rule) return false;
    // A row takes an instruction, and the end of the function two more.
    const std::size_t most_rows = function.instructions.size() + 2;
    if (most_rows > std::min(kMaxFunctionRows, rows.room())) return false;
    if (function_rows_.size() < most_rows) function_rows_.resize(2 * most_rows);
    UnwindRow* first = function_rows_.data();
    PlainRun run(rules_, function, rows.base_file_vaddr(), *cie.plain_initial_rule, first);
    const UnwindRow* end = run.execute();
    if (end == nullptr) return false;
    rows.append_function({first, end});
    return true;
}

}  // namespace bobbin::cfi
