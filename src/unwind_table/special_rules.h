// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_table {

// The rules that do not fit a 16-bit code, shared by all tables and by the kernel: 0.26 % of rows,
// but only 1,043 distinct ones in the whole of /usr. Index 0 means "no CFI". Any thread.
class SpecialRules {
public:
    struct IndexedRule {
        std::uint16_t index = 0;
        abi::special_rule rule{};
    };

    SpecialRules();

    // How many new rules one file may bring now (file_share.h).
    [[nodiscard]] std::size_t file_share() const;

    // The index of `rule`, added if new; nullopt when it is new and MAX_SPECIAL_RULES are in use or
    // `may_add`, if given, is 0. Each rule added takes one off it.
    std::optional<std::uint16_t> index_of(const abi::special_rule& rule,
                                          std::size_t* may_add = nullptr);

    // Rules with index >= `first`, in order, those that were forgotten among them.
    [[nodiscard]] std::vector<abi::special_rule> since(std::size_t first) const;

    // What was added since the last call, under which index.
    [[nodiscard]] std::vector<IndexedRule> take_added();
    [[nodiscard]] std::size_t live_count() const;
    // Forgets all rules but index 0 and those that `keeps` says yes to; their indices go to what is
    // added next. No table may be under construction (SharedRules::forget_unused).
    void keep_only(const std::function<bool(std::uint16_t index)>& keeps);

private:
    using RuleWords = std::array<std::uint64_t, sizeof(abi::special_rule) / 8>;

    mutable std::mutex mutex_;
    std::vector<abi::special_rule> rules_;
    std::map<RuleWords, std::uint16_t> index_by_rule_;
    std::vector<std::uint16_t> free_;   // indices of forgotten rules
    std::vector<std::uint16_t> added_;  // since take_added()
};

}  // namespace bobbin::unwind_table
