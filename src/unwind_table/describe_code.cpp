// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

// psABI x86-64 figure 3.36
constexpr std::array<std::string_view, 16> kRegisterNames = {
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

std::string_view register_name(std::uint8_t dwarf_number) {
    return dwarf_number < kRegisterNames.size() ? kRegisterNames[dwarf_number] : "?";
}

// "rsp + 16", "cfa - 8", "rbp"
std::string offset_from(std::string_view base, std::int64_t offset) {
    if (offset == 0) {
        return std::string(base);
    }
    return fmt::format("{} {} {}", base, offset < 0 ? '-' : '+', std::abs(offset));
}

std::string describe_plain(unsigned code) {
    const std::string_view base = (code & abi::CODE_BASE_RBP) != 0 ? "rbp" : "rsp";
    const unsigned slot = code >> abi::CODE_RBP_SLOT_SHIFT & abi::CODE_RBP_SLOT_MASK;
    const std::string rbp = slot == 0 ? "same" : fmt::format("*(cfa - {})", 8 + 8 * slot);
    return fmt::format("cfa = {} + {}; rbp = {}; ra = *(cfa - 8)", base,
                       8 * (code & abi::CODE_CFA_WORDS_MASK), rbp);
}

std::string describe_cfa(const abi::special_rule& rule) {
    const auto dereferenced = [&rule](std::string_view base) {
        return offset_from(fmt::format("*({})", offset_from(base, rule.cfa_offset)),
                           rule.cfa_addend);
    };
    switch (rule.cfa) {
        case abi::SPECIAL_CFA_RSP:
            return offset_from("rsp", rule.cfa_offset);
        case abi::SPECIAL_CFA_RBP:
            return offset_from("rbp", rule.cfa_offset);
        case abi::SPECIAL_CFA_REGISTER:
            return offset_from(register_name(rule.cfa_register), rule.cfa_offset);
        case abi::SPECIAL_CFA_DEREF_RSP:
            return dereferenced("rsp");
        case abi::SPECIAL_CFA_DEREF_RBP:
            return dereferenced("rbp");
        case abi::SPECIAL_CFA_PLT:
            return fmt::format("rsp + 8 + ((rip & 15) >= {} ? 8 : 0)", rule.cfa_offset);
        default:
            return "?";
    }
}

std::string describe_rbp(const abi::special_rule& rule) {
    switch (rule.rbp) {
        case abi::SPECIAL_RBP_SAME:
            return "same";
        case abi::SPECIAL_RBP_AT_CFA:
            return fmt::format("*({})", offset_from("cfa", rule.rbp_offset));
        case abi::SPECIAL_RBP_AT_RBP:
            return fmt::format("*({})", offset_from("rbp", rule.rbp_offset));
        default:
            return "lost";
    }
}

// With its separator: most rules say nothing of rbx.
std::string describe_rbx(const abi::special_rule& rule) {
    switch (rule.rbx) {
        case abi::SPECIAL_RBX_UNKNOWN:
            return "";
        case abi::SPECIAL_RBX_SAME:
            return "; rbx = same";
        default:
            return fmt::format("; rbx = *(cfa - {})", 8 * rule.rbx);
    }
}

std::string describe_return_address(const abi::special_rule& rule) {
    switch (rule.return_address) {
        case abi::SPECIAL_RA_AT_CFA:
            return fmt::format("*({})", offset_from("cfa", rule.ra_offset));
        case abi::SPECIAL_RA_REGISTER:
            return std::string(register_name(rule.ra_register));
        default:
            return "?";
    }
}

std::string describe_special(const abi::special_rule& rule) {
    if (rule.cfa == abi::SPECIAL_CFA_NONE) {
        return "no unwind information";
    }
    if (rule.cfa == abi::SPECIAL_CFA_SIGNAL_FRAME) {
        return "signal frame: registers are in the ucontext at rsp";
    }
    if (rule.cfa == abi::SPECIAL_CFA_UNSUPPORTED) {
        return "unsupported rule";
    }
    if (rule.return_address == abi::SPECIAL_RA_UNDEFINED) {
        return "outermost frame";
    }
    if (rule.return_address == abi::SPECIAL_RA_OTHER_STACK) {
        return "the caller is on another stack";
    }
    return fmt::format("cfa = {}; rbp = {}{}; ra = {}{}", describe_cfa(rule), describe_rbp(rule),
                       describe_rbx(rule), describe_return_address(rule),
                       rule.enters_landing_pad != 0 ? ", a landing pad" : "");
}

// Of a code that is no macro.
std::string describe_rule(std::uint16_t code, std::span<const abi::special_rule> specials) {
    if ((code >> abi::CODE_RBP_SLOT_SHIFT & abi::CODE_RBP_SLOT_MASK) !=
        abi::CODE_RBP_SLOT_SPECIAL) {
        return describe_plain(code);
    }
    const std::size_t index =
        (code & abi::CODE_CFA_WORDS_MASK) |
        ((code & abi::CODE_BASE_RBP) != 0 ? abi::CODE_CFA_WORDS_MASK + 1U : 0U);
    if (index == 0) {
        return describe_special({});
    }
    return index < specials.size() ? describe_special(specials[index])
                                   : fmt::format("special rule {}, not known here", index);
}

// "+0 cfa = rsp + 8; ... | +1 cfa = rsp + 16; ..."
std::string describe_macro(std::size_t index, std::span<const abi::special_rule> specials,
                           std::span<const abi::macro> macros) {
    if (index >= macros.size()) {
        return fmt::format("macro {}, not known here", index);
    }
    const abi::macro& macro = macros[index];
    std::string text = "+0 " + describe_rule(macro.codes[0], specials);
    for (unsigned k = 0; k < abi::MACRO_STARTS; ++k) {
        const std::uint64_t start = macro.starts >> 8 * k & 0xff;
        if (start == abi::MACRO_NO_START) {
            break;
        }
        text += fmt::format(" | +{} {}", start, describe_rule(macro.codes[k + 1], specials));
    }
    return text;
}

}  // namespace

std::string describe_code(std::uint16_t code, std::span<const abi::special_rule> specials,
                          std::span<const abi::macro> macros) {
    if ((code & abi::CODE_MACRO) != 0) {
        return describe_macro(code & ~unsigned{abi::CODE_MACRO}, specials, macros);
    }
    return describe_rule(code, specials);
}

}  // namespace bobbin::unwind_table
