// SPDX-License-Identifier: Apache-2.0
#include "golden/cfi_readelf_rows.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <vector>

#include "golden/cfi_libdw_rules.h"

namespace bobbin::test {
namespace {

using cfi::CfaKind;
using cfi::RbpKind;
using cfi::ReturnAddressKind;

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// Reads tables such as
//   0000011c 000000000000003c 00000120 FDE cie=00000000 pc=00000000000275f0..000000000002779f
//      LOC           CFA      rbx   rbp   ra
//   00000000000275f0 rsp+8    u     u     c-8
class ReadelfParser {
public:
    void read_line(const std::string& line) {
        const std::vector<std::string> words = words_of(line);
        if (words.size() >= 4 && words[3] == "CIE") {
            begin_cie(words[0]);
        } else if (words.size() >= 6 && words[3] == "FDE") {
            begin_fde(words[4], words[5]);
        } else if (!words.empty() && words[0] == "LOC") {
            columns_ = words;
        } else if (!columns_.empty() && words.size() == columns_.size()) {
            read_row(words);
        }
    }
    [[nodiscard]] const ReadelfRows& rows() const { return rows_; }

private:
    void begin_cie(const std::string& offset) {
        columns_.clear();
        cie_ = offset;
    }

    // A function without instructions gets no table; it has its CIE's row.
    void begin_fde(const std::string& cie, const std::string& range) {
        columns_.clear();
        cie_.clear();
        const std::size_t dots = range.find("..");
        const std::uint64_t start = std::stoull(range.substr(3, dots - 3), nullptr, 16);
        end_file_vaddr_ = std::stoull(range.substr(dots + 2), nullptr, 16);
        rows_[start] = row_of_cie_[cie.substr(4)];
    }

    // Of two rows at one address the later stands; a row at the end of the function covers nothing.
    void read_row(const std::vector<std::string>& words) {
        ReadelfRow row;
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (columns_[i] == "CFA") row.cfa = words[i];
            if (columns_[i] == "rbp") row.rbp = words[i];
            if (columns_[i] == "ra") row.return_address = words[i];
        }
        const std::uint64_t file_vaddr = std::stoull(words[0], nullptr, 16);
        if (!cie_.empty()) {
            row_of_cie_[cie_] = row;
        } else if (file_vaddr < end_file_vaddr_) {
            rows_[file_vaddr] = row;
        }
    }

    std::string cie_;  // the one being read; empty in an FDE
    std::uint64_t end_file_vaddr_ = 0;
    std::vector<std::string> columns_;
    std::map<std::string, ReadelfRow> row_of_cie_;
    ReadelfRows rows_;
};

// readelf writes "exp" for every expression, whatever it says, and no row where there is no CFA.
std::string cfa_as_readelf(const cfi::UnwindRule& rule) {
    if (rule.cfa == CfaKind::kNoCfi) return "";
    if (rule.cfa != CfaKind::kRegisterOffset) return "exp";
    static const std::vector<std::string> kNames = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                    "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                    "r12", "r13", "r14", "r15"};
    return fmt::format("{}{:+}", kNames.at(rule.cfa_register), rule.cfa_offset);
}

bool agrees(const std::string& text, RbpKind kind, std::int32_t offset) {
    switch (kind) {
        case RbpKind::kSame:
            return text.empty() || text == "u" || text == "s";
        case RbpKind::kAtCfa:
            return text == fmt::format("c{:+}", offset);
        case RbpKind::kAtRbp:
        case RbpKind::kExpression:
            return text == "exp" || text == "vexp";
        case RbpKind::kUndefined:
            return text == "u";
        case RbpKind::kInRegister:
            return text.starts_with('r');
    }
    return false;
}

bool agrees(const std::string& text, ReturnAddressKind kind, std::int32_t offset) {
    switch (kind) {
        case ReturnAddressKind::kAtCfa:
            return text == fmt::format("c{:+}", offset);
        case ReturnAddressKind::kUndefined:
            return text == "u";
        case ReturnAddressKind::kInRegister:
            return text.starts_with('r');
        case ReturnAddressKind::kExpression:
            return text == "exp" || text == "vexp";
        case ReturnAddressKind::kOtherStack:
            return false;  // no CFI says so
    }
    return false;
}

const cfi::UnwindRule& rule_at(const cfi::UnwindRows& unwind, std::uint64_t file_vaddr) {
    const auto next = std::ranges::upper_bound(
        unwind.rows, file_vaddr, {}, [&](const auto& row) { return unwind.file_vaddr(row); });
    return next == unwind.rows.begin() ? unwind.rules[0] : unwind.rule_of(*(next - 1));
}

}  // namespace

ReadelfRows run_readelf(const std::string& path) {
    // --wide keeps a row on one line; C keeps the numbers plain.
    const std::string command = "LC_ALL=C readelf --wide --debug-dump=frames-interp " + path;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    ReadelfParser parser;
    std::string line;
    for (int c = 0; pipe && (c = std::fgetc(pipe.get())) != EOF;) {
        if (c != '\n') {
            line += static_cast<char>(c);
            continue;
        }
        parser.read_line(line);
        line.clear();
    }
    return parser.rows();
}

void expect_agreement(const ReadelfRows& theirs, const cfi::EhFrame& frame,
                      const std::string& path) {
    // Ours join neighbours with equal rules, and have one more where a function's end is a gap.
    ASSERT_GE(theirs.size() + frame.fde_count, frame.unwind.rows.size());
    std::uint64_t mismatches = 0;
    for (const auto& [file_vaddr, row] : theirs) {
        const cfi::UnwindRule& rule = rule_at(frame.unwind, file_vaddr);
        if (row.cfa == cfa_as_readelf(rule) && agrees(row.rbp, rule.rbp, rule.rbp_offset) &&
            agrees(row.return_address, rule.return_address, rule.ra_offset)) {
            continue;
        }
        constexpr std::uint64_t kShown = 5;
        if (++mismatches > kShown) continue;
        ADD_FAILURE() << fmt::format("{:#x}\n  readelf: cfa {} rbp {} ra {}\n  ours: {}",
                                     file_vaddr, row.cfa, row.rbp, row.return_address,
                                     to_text(rule));
    }
    EXPECT_EQ(mismatches, 0U);
    fmt::print("{}: {} lines of readelf, {} rows, {} mismatches\n", path, theirs.size(),
               frame.unwind.rows.size(), mismatches);
}

}  // namespace bobbin::test
