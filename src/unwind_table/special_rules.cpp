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
    return share_of_one_file(abi::MAX_SPECIAL_RULES - rules_.size());
}

std::optional<std::uint16_t> SpecialRules::index_of(const abi::special_rule& rule,
                                                    std::size_t* may_add) {
    const auto key = std::bit_cast<RuleWords>(rule);
    const std::lock_guard lock(mutex_);
    if (const auto known = index_by_rule_.find(key); known != index_by_rule_.end()) {
        return known->second;
    }
    if (rules_.size() >= abi::MAX_SPECIAL_RULES || (may_add != nullptr && *may_add == 0)) {
        return std::nullopt;
    }
    if (may_add != nullptr) {
        --*may_add;
    }
    const auto index = static_cast<std::uint16_t>(rules_.size());
    rules_.push_back(rule);
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

}  // namespace bobbin::unwind_table
