// SPDX-License-Identifier: Apache-2.0
#include "pclntab/unwind_rows.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "cfi/row_writer.h"
#include "cfi/rule_set.h"
#include "pclntab/frame_layout.h"
#include "pclntab/function_rules.h"
#include "pclntab/special_functions.h"
#include "pclntab/stack_depths.h"

namespace bobbin::pclntab {
namespace {

constexpr std::uint64_t kMaxSpanOfText = std::numeric_limits<std::uint32_t>::max();
// 5.1 to 5.6 in small programs and in go itself.
constexpr std::size_t kRowsPerFunction = 6;

class TableReader {
public:
    explicit TableReader(const FunctionTable& table)
        : table_(table),
          prologue_(find_prologue(table)),
          base_file_vaddr_(first_address(table)),
          rows_(base_file_vaddr_, table.size() * kRowsPerFunction),
          covered_end_file_vaddr_(base_file_vaddr_) {}

    Result<GoRows> read() {
        for (std::size_t i = 0; i < table_.size() && result_.stopped.empty(); ++i) add(i);
        if (result_.function_count == 0 && result_.function_refused_count > 0) {
            return fail("all {} functions of Go are damaged", result_.function_refused_count);
        }
        result_.unwind.base_file_vaddr = base_file_vaddr_;
        if (result_.function_count > 0) result_.unwind.rows = rows_.take();
        result_.unwind.rules = rules_.take();
        return std::move(result_);
    }

private:
    static std::uint64_t first_address(const FunctionTable& table) {
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (const auto function = table.function(i)) return first_covered(*function);
        }
        return 0;
    }
    // A signal handler returns to the trampoline's first byte, and the walk looks up the byte
    // before a return address; so does the C library's FDE begin one early.
    static std::uint64_t first_covered(const Function& function) {
        return function.start_file_vaddr - (function.start_file_vaddr > 0 ? 1 : 0);
    }

    void add(std::size_t index);
    bool add_rows(const Function& function, std::uint64_t size_bytes);
    [[nodiscard]] bool is_trampoline(std::size_t index) const;
    bool append(std::uint64_t file_vaddr, const cfi::UnwindRule& rule);

    const FunctionTable& table_;
    Prologue prologue_;
    std::uint64_t base_file_vaddr_ = 0;
    cfi::RowWriter rows_;
    cfi::RuleSet rules_;
    std::uint64_t covered_end_file_vaddr_ = 0;
    std::uint64_t span_count_ = 0;
    GoRows result_;
};

bool TableReader::is_trampoline(std::size_t index) const {
    if (index >= table_.size()) return false;
    const std::optional<Function> function = table_.function(index);
    return function && treatment_of(table_, *function) == Treatment::kSignalTrampoline;
}

void TableReader::add(std::size_t index) {
    const std::optional<Function> function = table_.function(index);
    if (!function || function->start_file_vaddr < covered_end_file_vaddr_ ||
        function->end_file_vaddr - base_file_vaddr_ > kMaxSpanOfText) {
        ++result_.function_refused_count;
        return;
    }
    const std::uint64_t size = function->end_file_vaddr - function->start_file_vaddr;
    if (function->stack_depths_offset == 0 || size == 0) return;
    rows_.begin_function();
    if (add_rows(*function, size - (is_trampoline(index + 1) ? 1 : 0))) {
        ++result_.function_count;
        covered_end_file_vaddr_ = function->end_file_vaddr;
    } else {
        rows_.take_back_function();
        ++result_.function_refused_count;
    }
    if (rows_.full() || span_count_ > kMaxSpans) {
        result_.stopped = "the function table of Go has too many rows";
    }
}

bool TableReader::add_rows(const Function& function, std::uint64_t size_bytes) {
    const auto bytes = table_.stack_depths_of(function);
    const Treatment treatment = treatment_of(table_, function);
    const FunctionRules rules(treatment, prologue_, find_frame_layout(bytes, prologue_));
    if (treatment == Treatment::kSignalTrampoline &&
        !append(first_covered(function), rules.at_entry())) {
        return false;
    }
    StackDepths depths(bytes);
    std::uint64_t end = 0;
    std::optional<DepthSpan> span = depths.next();
    while (span && end < size_bytes && ++span_count_ <= kMaxSpans) {
        const std::optional<DepthSpan> following = depths.next();
        end = std::min<std::uint64_t>(span->end, size_bytes);
        for (const RulePart& part : rules.parts_of(*span, following)) {
            if (part.begin >= end) break;
            if (!append(function.start_file_vaddr + part.begin, part.rule)) return false;
        }
        span = following;
    }
    if (depths.damaged() || end == 0) return false;
    return append(function.start_file_vaddr + end, cfi::UnwindRule{});
}

bool TableReader::append(std::uint64_t file_vaddr, const cfi::UnwindRule& rule) {
    const std::uint32_t number = rules_.number_of(rule);
    if (number == cfi::RuleSet::kNoNumber || rows_.full()) return false;
    rows_.append(file_vaddr, number);
    return true;
}

}  // namespace

Result<GoRows> read_unwind_rows(const FunctionTable& table) {
    if (!table.knows_text_start()) {
        return fail("the function table of Go does not say where its text starts");
    }
    return TableReader(table).read();
}

}  // namespace bobbin::pclntab
