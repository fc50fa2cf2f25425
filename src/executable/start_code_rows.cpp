// SPDX-License-Identifier: Apache-2.0
#include "executable/start_code_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "cfi/row_writer.h"
#include "cfi/rule_set.h"

namespace bobbin::executable {
namespace {

using Code = std::span<const std::byte>;

// Its first bytes, and how long it is with its operand.
struct Instruction {
    std::array<std::uint8_t, 4> opcode;
    std::uint8_t opcode_bytes;
    std::uint8_t bytes;

    [[nodiscard]] bool begins(Code code) const {
        return code.size() >= bytes &&
               std::ranges::equal(code.first(opcode_bytes), std::span(opcode).first(opcode_bytes),
                                  {}, std::to_integer<std::uint8_t>);
    }
};

constexpr Instruction kEndbr64{{0xf3, 0x0f, 0x1e, 0xfa}, 4, 4};
constexpr Instruction kSubRsp8{{0x48, 0x83, 0xec, 0x08}, 4, 4};
constexpr Instruction kAddRsp8{{0x48, 0x83, 0xc4, 0x08}, 4, 4};
constexpr Instruction kRet{{0xc3}, 1, 1};

// What stands in between calls functions and leaves rsp alone.
constexpr std::array kBody{
    Instruction{{0x48, 0x8b, 0x05}, 3, 7},  // mov __gmon_start__@GOT(%rip),%rax
    Instruction{{0x48, 0xc7, 0xc0}, 3, 7},  // mov $0,%rax, where the linker knew
    Instruction{{0x48, 0x85, 0xc0}, 3, 3},  // test %rax,%rax
    Instruction{{0x74}, 1, 2},              // je
    Instruction{{0xff, 0xd0}, 2, 2},        // call *%rax
    Instruction{{0xff, 0x15}, 2, 6},        // call *address(%rip)
    Instruction{{0xe8}, 1, 5},              // call
    Instruction{{0x90}, 1, 1},              // nop
};

cfi::UnwindRule cfa_from_rsp(std::int32_t offset) {
    return {.cfa = cfi::CfaKind::kRegisterOffset,
            .cfa_register = cfi::kRsp,
            .cfa_offset = offset,
            .ra_offset = -8};
}

void append_rows(const elf::SectionBytes& section, cfi::RowWriter& rows, cfi::RuleSet& rules) {
    const std::uint64_t start = section.file_vaddr;
    const std::uint64_t end = start + section.bytes.size();
    const auto frame = start_code_frame(section.bytes);
    if (!frame || start < rows.base_file_vaddr() ||
        end - rows.base_file_vaddr() > std::numeric_limits<std::uint32_t>::max()) {
        return;
    }
    rows.append(start, rules.number_of(cfa_from_rsp(8)));
    rows.append(start + *frame, rules.number_of(cfa_from_rsp(16)));
    rows.append(end - kRet.bytes, rules.number_of(cfa_from_rsp(8)));
    rows.append(end, cfi::UnwindRows::kNoCfiRule);
}

}  // namespace

std::optional<std::size_t> start_code_frame(Code code) {
    std::size_t at = kEndbr64.begins(code) ? kEndbr64.bytes : 0;
    if (!kSubRsp8.begins(code.subspan(at))) return std::nullopt;
    const std::size_t frame = at += kSubRsp8.bytes;
    while (true) {
        const auto* const found = std::ranges::find_if(
            kBody, [&](const Instruction& one) { return one.begins(code.subspan(at)); });
        if (found == kBody.end()) break;
        at += found->bytes;
    }
    if (!kAddRsp8.begins(code.subspan(at))) return std::nullopt;
    at += kAddRsp8.bytes;
    if (!kRet.begins(code.subspan(at)) || at + kRet.bytes != code.size()) return std::nullopt;
    return frame;
}

cfi::UnwindRows read_start_code_rows(const std::optional<elf::SectionBytes>& init,
                                     const std::optional<elf::SectionBytes>& fini) {
    std::vector<const elf::SectionBytes*> sections;
    for (const auto* const section : {&init, &fini}) {
        if (*section && start_code_frame((*section)->bytes)) sections.push_back(&**section);
    }
    std::ranges::sort(sections, {}, &elf::SectionBytes::file_vaddr);
    if (sections.empty()) return {};
    constexpr std::size_t kRowsEach = 4;
    cfi::RowWriter rows(sections.front()->file_vaddr, kRowsEach * sections.size());
    cfi::RuleSet rules;
    for (const elf::SectionBytes* const section : sections) append_rows(*section, rows, rules);
    return {sections.front()->file_vaddr, rows.take(), rules.take()};
}

}  // namespace bobbin::executable
