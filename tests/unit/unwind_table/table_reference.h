// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "unwind_table/build_table.h"

// What a table must say, worked out the plain way from rows and segments, and rows made by hand.
namespace bobbin::test {

inline cfi::UnwindRule rule_rsp(std::int32_t cfa_offset) {
    return {.cfa = cfi::CfaKind::kRegisterOffset,
            .cfa_register = cfi::kRsp,
            .cfa_offset = cfa_offset,
            .ra_offset = -8};
}

inline cfi::UnwindRule rule_rbp(std::int32_t cfa_offset, std::int32_t rbp_offset) {
    return {.cfa = cfi::CfaKind::kRegisterOffset,
            .cfa_register = cfi::kRbp,
            .rbp = cfi::RbpKind::kAtCfa,
            .cfa_offset = cfa_offset,
            .rbp_offset = rbp_offset,
            .ra_offset = -8};
}

inline abi::special_rule rsp_plus(std::int32_t offset) {
    abi::special_rule rule{};
    rule.cfa = abi::SPECIAL_CFA_RSP;
    rule.cfa_offset = offset;
    return rule;
}

// Rows in the order of `add`, each with its own address from the base.
class RowsBuilder {
public:
    explicit RowsBuilder(std::uint64_t base_file_vaddr) {
        rows_.base_file_vaddr = base_file_vaddr;
        rows_.rules.emplace_back();
    }

    RowsBuilder& add(std::uint32_t vaddr_from_base, const cfi::UnwindRule& rule) {
        if (!rows_.rows.empty() && rows_.rule_of(rows_.rows.back()) == rule) {
            return *this;  // neighbours have different rules
        }
        const auto known = std::ranges::find(rows_.rules, rule);
        rows_.rows.push_back(
            {vaddr_from_base, static_cast<std::uint32_t>(known - rows_.rules.begin())});
        if (known == rows_.rules.end()) {
            rows_.rules.push_back(rule);
        }
        return *this;
    }
    RowsBuilder& add_gap(std::uint32_t vaddr_from_base) { return add(vaddr_from_base, {}); }

    [[nodiscard]] const cfi::UnwindRows& rows() const { return rows_; }

private:
    cfi::UnwindRows rows_;
};

inline elf::LoadSegment text_segment(std::uint64_t file_offset, std::uint64_t file_vaddr,
                                     std::uint64_t size_bytes) {
    return {.file_offset = file_offset,
            .file_size_bytes = size_bytes,
            .file_vaddr = file_vaddr,
            .memory_size_bytes = size_bytes,
            .executable = true};
}

inline std::uint16_t code_or_no_cfi(const cfi::UnwindRule& rule,
                                    unwind_table::SpecialRules& specials) {
    return unwind_table::encode_rule(rule, specials).value_or(abi::CODE_NO_CFI);
}

// The rule that holds for the part of row `index` which lies in [begin, end) of a segment: its own,
// or, where that part is a gap of less than 16 bytes behind another row, that other row's.
inline const cfi::UnwindRule& expected_rule(const cfi::UnwindRows& rows, std::size_t index,
                                            std::uint64_t begin_vaddr, std::uint64_t end_vaddr) {
    const cfi::UnwindRule& own = rows.rule_of(rows.rows[index]);
    const std::uint64_t row_begin = rows.file_vaddr(rows.rows[index]);
    if (own.cfa != cfi::CfaKind::kNoCfi || row_begin <= begin_vaddr || index == 0) {
        return own;
    }
    const bool is_last = index + 1 == rows.rows.size();
    const std::uint64_t row_end =
        is_last ? end_vaddr : std::min(end_vaddr, rows.file_vaddr(rows.rows[index + 1]));
    const bool is_between_functions = row_end != end_vaddr && row_end - row_begin < 16;
    return is_between_functions ? rows.rule_of(rows.rows[index - 1]) : own;
}

// The code of each byte of a file, for files without overlapping segments.
inline std::vector<std::uint16_t> paint_codes(const cfi::UnwindRows& rows,
                                              std::span<const elf::LoadSegment> segments,
                                              std::size_t file_bytes,
                                              unwind_table::SpecialRules& specials) {
    std::vector<std::uint16_t> codes(file_bytes, abi::CODE_NO_CFI);
    for (const elf::LoadSegment& segment : segments) {
        const std::uint64_t begin = segment.file_vaddr;
        const std::uint64_t end = begin + segment.file_size_bytes;
        for (std::size_t i = 0; segment.executable && i < rows.rows.size(); ++i) {
            const std::uint64_t from = std::max(begin, rows.file_vaddr(rows.rows[i]));
            const std::uint64_t to =
                i + 1 < rows.rows.size() ? std::min(end, rows.file_vaddr(rows.rows[i + 1])) : end;
            const std::uint16_t code = code_or_no_cfi(expected_rule(rows, i, begin, end), specials);
            for (std::uint64_t vaddr = from; vaddr < to; ++vaddr) {
                codes.at(vaddr - begin + segment.file_offset) = code;
            }
        }
    }
    return codes;
}

// The builder's promises in bpf_abi.h, "the unwind table".
class PromiseCheck {
public:
    explicit PromiseCheck(const unwind_table::UnwindTable& table) : table_(table) {}

    ::testing::AssertionResult run() {
        const std::size_t line_count = table_.words.size() / abi::LINE_WORDS;
        if (table_.words.size() % abi::LINE_WORDS != 0 || table_.base_file_offset % 65536 != 0 ||
            table_.words.size() > std::size_t{1} << 24 || line_count < table_.granule_count ||
            line_count - table_.granule_count > abi::MAX_SECOND_LINES ||
            (table_.granule_count != 0 && (table_.granule_shift < abi::MIN_GRANULE_SHIFT ||
                                           table_.granule_shift > abi::MAX_GRANULE_SHIFT))) {
            return ::testing::AssertionFailure()
                   << table_.words.size() << " words, base " << table_.base_file_offset;
        }
        is_linked_.assign(line_count - table_.granule_count, false);
        for (std::uint64_t granule = 0; granule < table_.granule_count && complaint_.empty();
             ++granule) {
            check_granule(granule);
        }
        require(!std::ranges::count(is_linked_, false), 0, "a second line without a link");
        if (!complaint_.empty()) {
            return ::testing::AssertionFailure() << complaint_;
        }
        return ::testing::AssertionSuccess();
    }

private:
    static constexpr std::uint32_t kLink = abi::ENTRY_IS_LINK;

    static std::uint32_t low_offset(std::uint32_t word) { return word >> abi::ENTRY_OFFSET_SHIFT; }

    void check_granule(std::uint64_t granule) {
        const std::uint64_t begin = granule << table_.granule_shift;
        const std::uint64_t end = begin + (std::uint64_t{1} << table_.granule_shift);
        const std::uint32_t* const words = &table_.words[granule * abi::LINE_WORDS];
        check_order(granule, granule);
        for (unsigned i = 0; i < abi::LINE_WORDS; ++i) {
            if (i > 0 && words[i] == words[i - 1]) {
                continue;
            }
            const std::uint64_t offset = i == 0 ? begin : offset_in(granule, words[i]);
            require(offset >= begin && offset < end, granule, "entry of another granule");
            if ((words[i] & kLink) != 0) {
                check_link(granule, words[i] & 0xffff, offset);
            } else if (i == 0) {
                check_reach(granule, words[0], begin);
            }
        }
    }

    // Of a word that does not begin before the granule.
    [[nodiscard]] std::uint64_t offset_in(std::uint64_t granule, std::uint32_t word) const {
        const std::uint64_t granule_begin = granule << table_.granule_shift;
        return (granule_begin & ~std::uint64_t{abi::ENTRY_OFFSET_MASK}) | low_offset(word);
    }

    // From word 1 on, which is the first that is compared.
    void check_order(std::uint64_t granule, std::uint64_t line) {
        const std::uint32_t* const words = &table_.words[line * abi::LINE_WORDS];
        for (unsigned i = 2; i < abi::LINE_WORDS; ++i) {
            require(words[i] == words[i - 1] || low_offset(words[i]) > low_offset(words[i - 1]),
                    granule, "entries do not ascend");
        }
    }

    // Something in the second line begins where the link does.
    void check_link(std::uint64_t granule, std::uint32_t number, std::uint64_t begin) {
        require(number < is_linked_.size(), granule, "a bad link");
        if (!complaint_.empty()) {
            return;
        }
        is_linked_[number] = true;
        const std::uint64_t line = table_.granule_count + number;
        const std::uint32_t* const words = &table_.words[line * abi::LINE_WORDS];
        check_order(granule, line);
        unsigned first = 0;
        for (unsigned i = 1; i < abi::LINE_WORDS; ++i) {
            first = offset_in(granule, words[i]) <= begin ? i : first;
            require((words[i] & kLink) == 0, granule, "a link in a second line");
        }
        if (offset_in(granule, words[first]) != begin) {
            require(begin == granule << table_.granule_shift, granule, "a link to nothing");
            check_reach(granule, words[first], begin);
        }
    }

    // A macro from before the line's range may not have begun longer ago than it can say.
    void check_reach(std::uint64_t granule, std::uint32_t word, std::uint64_t begin) {
        const std::uint64_t distance =
            (begin - (word >> abi::ENTRY_OFFSET_SHIFT)) & abi::ENTRY_OFFSET_MASK;
        require((word & abi::CODE_MACRO) == 0 || distance <= abi::MACRO_MAX_DISTANCE, granule,
                "a macro from too far before");
    }

    void require(bool kept, std::uint64_t granule, const char* text) {
        if (!kept && complaint_.empty()) {
            complaint_ = "granule " + std::to_string(granule) + ": " + text;
        }
    }

    const unwind_table::UnwindTable& table_;
    std::vector<bool> is_linked_;
    std::string complaint_;
};

inline ::testing::AssertionResult keeps_its_promises(const unwind_table::UnwindTable& table) {
    return PromiseCheck(table).run();
}

}  // namespace bobbin::test
