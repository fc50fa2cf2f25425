// SPDX-License-Identifier: Apache-2.0
#include "cfi/merge_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "cfi/row_writer.h"
#include "cfi/rule_set.h"

namespace bobbin::cfi {
namespace {

constexpr std::uint64_t kMaxMergedBytes = std::numeric_limits<std::uint32_t>::max();

// Goes through rows by rising address.
class RowCursor {
public:
    // `new_numbers` has one for each rule.
    RowCursor(const UnwindRows& unwind, std::vector<std::uint32_t> new_numbers)
        : unwind_(unwind), new_numbers_(std::move(new_numbers)) {}

    [[nodiscard]] bool at_end() const { return next_ == unwind_.rows.size(); }
    // Of the next row; the last address there is at the end.
    [[nodiscard]] std::uint64_t next_file_vaddr() const {
        return at_end() ? ~std::uint64_t{0} : unwind_.file_vaddr(unwind_.rows[next_]);
    }
    // The new number of the rule that holds from `file_vaddr` on, which never falls.
    std::uint32_t rule_from(std::uint64_t file_vaddr) {
        while (!at_end() && next_file_vaddr() <= file_vaddr) {
            rule_ = new_numbers_[unwind_.rows[next_++].rule];
        }
        return rule_;
    }

private:
    const UnwindRows& unwind_;
    std::vector<std::uint32_t> new_numbers_;
    std::size_t next_ = 0;
    std::uint32_t rule_ = UnwindRows::kNoCfiRule;
};

std::vector<std::uint32_t> number_rules(const UnwindRows& unwind, RuleSet& rules) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(unwind.rules.size());
    for (const UnwindRule& rule : unwind.rules) {
        const std::uint32_t number = rules.number_of(rule);
        numbers.push_back(number == RuleSet::kNoNumber ? UnwindRows::kNoCfiRule : number);
    }
    return numbers;
}

// The lower of both, unless `primary` then ends too far from it.
std::uint64_t common_base(const UnwindRows& primary, const UnwindRows& behind) {
    const std::uint64_t lower = std::min(primary.base_file_vaddr, behind.base_file_vaddr);
    const std::uint64_t end_file_vaddr = primary.file_vaddr(primary.rows.back());
    return end_file_vaddr - lower <= kMaxMergedBytes ? lower : primary.base_file_vaddr;
}

}  // namespace

UnwindRows merge_rows(UnwindRows primary, const UnwindRows& behind) {
    if (behind.rows.empty()) return primary;
    if (primary.rows.empty()) return behind;
    RuleSet rules;
    RowCursor front(primary, number_rules(primary, rules));
    RowCursor back(behind, number_rules(behind, rules));
    RowWriter rows(common_base(primary, behind), primary.rows.size() + behind.rows.size());
    while (!front.at_end() || !back.at_end()) {
        const std::uint64_t next = std::min(front.next_file_vaddr(), back.next_file_vaddr());
        const std::uint64_t at = std::max(next, rows.base_file_vaddr());
        if (at - rows.base_file_vaddr() >= kMaxMergedBytes) {
            rows.append(rows.base_file_vaddr() + kMaxMergedBytes, UnwindRows::kNoCfiRule);
            break;
        }
        const std::uint32_t rule = front.rule_from(at);
        const std::uint32_t rule_behind = back.rule_from(at);
        rows.append(at, rule == UnwindRows::kNoCfiRule ? rule_behind : rule);
    }
    return {rows.base_file_vaddr(), rows.take(), rules.take()};
}

}  // namespace bobbin::cfi
