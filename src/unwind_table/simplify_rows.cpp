// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/simplify_rows.h"

#include <algorithm>
#include <cassert>

#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

using cfi::UnwindRow;
using cfi::UnwindRows;

// Codes of a file's rules, each made when a row first asks: a rule without a row in the text must
// not take up a special.
class RuleCodes {
public:
    struct Code {
        std::uint16_t code = abi::CODE_NO_CFI;
        bool known = false;
        bool is_gap = false;
        bool dropped = false;
    };

    RuleCodes(const std::vector<cfi::UnwindRule>& rules, SpecialRules& specials)
        : rules_(rules),
          specials_(specials),
          may_add_(specials.file_share()),
          codes_(rules.size()) {}

    Code of(std::uint32_t rule) {
        assert(rule < codes_.size());
        if (!codes_[rule].known) {
            encode(rule);
        }
        return codes_[rule];
    }

private:
    void encode(std::uint32_t rule) {
        const std::optional<std::uint16_t> code = encode_rule(rules_[rule], specials_, &may_add_);
        codes_[rule] = {.code = code.value_or(abi::CODE_NO_CFI),
                        .known = true,
                        .is_gap = rules_[rule].cfa == cfi::CfaKind::kNoCfi,
                        .dropped = !code};
    }

    const std::vector<cfi::UnwindRule>& rules_;
    SpecialRules& specials_;
    std::size_t may_add_;
    std::vector<Code> codes_;
};

class Simplifier {
public:
    Simplifier(const UnwindRows& rows, const Text& text, SpecialRules& specials)
        : rows_(rows), text_(text), codes_(rows.rules, specials) {
        result_.runs.reserve(rows.rows.size());
    }

    Runs run() {
        std::uint64_t previous_end = 0;  // from base
        for (const TextRange& range : text_.ranges) {
            const std::uint64_t begin = range.file_offset - text_.base_file_offset;
            if (begin != previous_end) {
                start_run(previous_end, abi::CODE_NO_CFI);
            }
            add_range(range);
            previous_end = begin + range.size_bytes;
        }
        finish(previous_end);
        return std::move(result_);
    }

private:
    void start_run(std::uint64_t offset_from_base, std::uint16_t code) {
        if (code != code_) {
            result_.runs.push_back({static_cast<std::uint32_t>(offset_from_base), code});
            code_ = code;
        }
    }

    // The part of a range that can have rows. Addresses are as UnwindRow has them, from
    // rows_.base_file_vaddr: with a hostile base a sum would wrap, a difference cannot.
    struct Window {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t offset_of_begin = 0;  // in the file, from base_file_offset
    };

    [[nodiscard]] Window window_of(const TextRange& range) const {
        const std::uint64_t base = rows_.base_file_vaddr;
        const std::uint64_t offset = range.file_offset - text_.base_file_offset;
        if (range.file_vaddr >= base) {
            const std::uint64_t begin = range.file_vaddr - base;
            return {begin, begin + range.size_bytes, offset};
        }
        const std::uint64_t before_base = std::min(base - range.file_vaddr, range.size_bytes);
        return {0, range.size_bytes - before_base, offset + before_base};
    }

    void add_range(const TextRange& range) {
        const Window window = window_of(range);
        auto row =
            std::ranges::upper_bound(rows_.rows, window.begin, {}, &UnwindRow::vaddr_from_base);
        const std::uint64_t offset = range.file_offset - text_.base_file_offset;
        if (row == rows_.rows.begin() || window.offset_of_begin != offset) {
            start_run(offset, abi::CODE_NO_CFI);
        }
        if (row != rows_.rows.begin()) {
            --row;
        }
        for (; row != rows_.rows.end() && row->vaddr_from_base < window.end; ++row) {
            const auto next = std::next(row);
            const std::uint64_t next_begin =
                next == rows_.rows.end() ? window.end : next->vaddr_from_base;
            add_row(window, *row, std::min(next_begin, window.end));
        }
    }

    void add_row(const Window& window, const UnwindRow& row, std::uint64_t end) {
        const RuleCodes::Code code = codes_.of(row.rule);
        ++result_.row_count;
        result_.rules_dropped += code.dropped ? 1 : 0;
        const std::uint64_t begin = std::max<std::uint64_t>(row.vaddr_from_base, window.begin);
        const bool is_padding = code.is_gap && end - begin <= kMaxPaddingBytes &&
                                begin != window.begin && end != window.end;
        if (!is_padding) {
            start_run(window.offset_of_begin + (begin - window.begin), code.code);
        }
    }

    void finish(std::uint64_t text_end) {
        result_.end_offset = text_end;
        if (result_.runs.empty()) {
            result_.end_offset = 0;
        } else if (code_ == abi::CODE_NO_CFI) {
            result_.end_offset = result_.runs.back().offset_from_base;
        } else if (text_end < Text::kMaxSpanBytes) {
            start_run(text_end, abi::CODE_NO_CFI);
        }
    }

    const UnwindRows& rows_;
    const Text& text_;
    RuleCodes codes_;
    Runs result_;
    std::uint16_t code_ = abi::CODE_NO_CFI;
};

}  // namespace

Runs simplify_rows(const UnwindRows& rows, const Text& text, SpecialRules& specials) {
    return Simplifier(rows, text, specials).run();
}

}  // namespace bobbin::unwind_table
