// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cfi/unwind_row.h"

namespace bobbin::cfi {

// Appends rows in ascending order and keeps the promises of UnwindRows while doing so. The rows of
// one function can be taken back, since a program may turn out malformed at its last instruction.
class RowWriter {
public:
    // Seven times what libxul has; 128 MiB.
    static constexpr std::size_t kMaxRows = 16U << 20;

    // Room for `expected_rows` is taken at once: growing costs a copy and the page faults twice.
    RowWriter(std::uint64_t base_file_vaddr, std::size_t expected_rows)
        : base_file_vaddr_(base_file_vaddr) {
        rows_.reserve(expected_rows < kMaxRows ? expected_rows : kMaxRows);
        rows_.push_back({0, UnwindRows::kNoCfiRule});
    }

    [[nodiscard]] std::uint64_t base_file_vaddr() const { return base_file_vaddr_; }
    [[nodiscard]] bool full() const { return rows_.size() >= kMaxRows; }

    void begin_function() {
        kept_ = rows_.size();
        kept_last_ = rows_.back();
    }

    // From `file_vaddr` on, `rule` holds. Not below the last address given, and within 4 GiB of the
    // base.
    void append(std::uint64_t file_vaddr, std::uint32_t rule) {
        const auto at = static_cast<std::uint32_t>(file_vaddr - base_file_vaddr_);
        if (rows_.back().vaddr_from_base == at) {
            rows_.back().rule = rule;
            drop_repeated_last();
        } else if (rows_.back().rule != rule) {
            rows_.push_back({at, rule});
        }
    }

    // All rows of a function at once; from the base. Ascending, neighbours differ, and the last has
    // "no CFI".
    void append_function(std::span<const UnwindRow> rows) {
        if (rows_.back().vaddr_from_base == rows.front().vaddr_from_base) rows_.pop_back();
        const bool joins = !rows_.empty() && rows_.back().rule == rows.front().rule;
        rows_.insert(rows_.end(), rows.begin() + (joins ? 1 : 0), rows.end());
    }
    [[nodiscard]] std::size_t room() const { return kMaxRows - std::min(kMaxRows, rows_.size()); }

    void take_back_function() {
        rows_.resize(kept_ - 1);  // its first row may have replaced the last one kept
        rows_.push_back(kept_last_);
    }

    std::vector<UnwindRow> take() { return std::move(rows_); }

private:
    // Only a function's first row replaces one, the "no CFI" at the end of the function before.
    void drop_repeated_last() {
        if (rows_.size() > 1 && rows_[rows_.size() - 2].rule == rows_.back().rule) rows_.pop_back();
    }

    std::uint64_t base_file_vaddr_ = 0;
    std::vector<UnwindRow> rows_;
    std::size_t kept_ = 0;
    UnwindRow kept_last_;
};

}  // namespace bobbin::cfi
