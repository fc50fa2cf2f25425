// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/special_rules.h"

#include <bit>

#include "unwind_table/file_share.h"

namespace bobbin::unwind_table {

SpecialRules::SpecialRules() {
    static_cast<void>(index_of(abi::special_rule{}));  // takes index 0, "no CFI"
}

std::size_t SpecialRules::file_share() const {
    const std::lock_guard lock(mutex_);
    return share_of_one_file(abi::MAX_SPECIAL_RULES - rules_.size() + free_.size());
}

std::optional<std::uint16_t> SpecialRules::index_of(const abi::special_rule& rule,
                                                    std::size_t* may_add) {
    const auto key = std::bit_cast<RuleWords>(rule);
    const std::lock_guard lock(mutex_);
    if (const auto known = index_by_rule_.find(key); known != index_by_rule_.end()) {
        return known->second;
    }
    const bool is_full = free_.empty() && rules_.size() >= abi::MAX_SPECIAL_RULES;
    if (is_full || (may_add != nullptr && *may_add == 0)) {
        return std::nullopt;
    }
    if (may_add != nullptr) {
        --*may_add;
    }
    auto index = static_cast<std::uint16_t>(rules_.size());
    if (free_.empty()) {
        rules_.push_back(rule);
    } else {
        index = free_.back();
        free_.pop_back();
        rules_[index] = rule;
    }
    added_.push_back(index);
    index_by_rule_.emplace(key, index);
    return index;
}

std::vector<abi::special_rule> SpecialRules::since(std::size_t first) const {
    const std::lock_guard lock(mutex_);
    if (first >= rules_.size()) {
        return {};
    }
    return {rules_.begin() + static_cast<std::ptrdiff_t>(first), rules_.end()};
}

std::vector<SpecialRules::IndexedRule> SpecialRules::take_added() {
    const std::lock_guard lock(mutex_);
    std::vector<IndexedRule> added;
    added.reserve(added_.size());
    for (const std::uint16_t index : added_) added.push_back({index, rules_[index]});
    added_.clear();
    return added;
}

std::size_t SpecialRules::live_count() const {
    const std::lock_guard lock(mutex_);
    return index_by_rule_.size();
}

void SpecialRules::keep_only(const std::function<bool(std::uint16_t index)>& keeps) {
    const std::lock_guard lock(mutex_);
    std::erase_if(index_by_rule_, [&](const auto& entry) {
        if (entry.second == 0 || keeps(entry.second)) return false;
        free_.push_back(entry.second);
        return true;
    });
}

}  // namespace bobbin::unwind_table
