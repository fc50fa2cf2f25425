// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
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
    return row_end - row_begin < 16 ? rows.rule_of(rows.rows[index - 1]) : own;
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
inline ::testing::AssertionResult keeps_its_promises(const unwind_table::UnwindTable& table) {
    constexpr std::size_t kChunk = abi::WORDS_PER_CHUNK;
    const auto broken = [](std::size_t granule) {
        return ::testing::AssertionFailure() << "granule " << granule << ": ";
    };
    if (table.words.size() % kChunk != 0 || table.base_file_offset % 65536 != 0 ||
        table.words.size() > std::size_t{1} << 24) {
        return ::testing::AssertionFailure()
               << table.words.size() << " words, base " << table.base_file_offset;
    }
    std::uint16_t predecessor_code = abi::CODE_NO_CFI;
    for (std::size_t granule = 0; granule < table.granule_count; ++granule) {
        const std::size_t first = table.words[granule] >> 8;
        const std::size_t count = table.words[granule] & 255;
        const std::size_t last = first + std::max<std::size_t>(count, 1) - 1;
        if (first <= table.granule_count || last >= table.words.size()) {
            return broken(granule) << "entries [" << first << ", " << last << "] out of place";
        }
        if (count > abi::MAX_GROUP_ENTRIES || (first - 1) / kChunk != last / kChunk) {
            return broken(granule) << "entries [" << first - 1 << ", " << last << "] cross a chunk";
        }
        if ((table.words[first - 1] & 0xffff) != predecessor_code) {
            return broken(granule) << "wrong predecessor";
        }
        for (std::size_t i = first; i < first + count; ++i) {
            const std::uint32_t offset_in_page = table.words[i] >> 16;
            const std::size_t page_mask = (std::size_t{1} << (16 - table.granule_shift)) - 1;
            if (offset_in_page >> table.granule_shift != (granule & page_mask)) {
                return broken(granule) << "entry of another granule";
            }
            if (i > first && table.words[i] >> 16 <= table.words[i - 1] >> 16) {
                return broken(granule) << "entries do not ascend";
            }
            predecessor_code = static_cast<std::uint16_t>(table.words[i] & 0xffff);
        }
    }
    return ::testing::AssertionSuccess();
}

}  // namespace bobbin::test
