// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_table {

// The rules that do not fit a 16-bit code, shared by all tables and by the kernel: 0.26 % of rows,
// but only 1,043 distinct ones in the whole of /usr. Rules are only ever added; index 0 means "no
// CFI". Any thread.
class SpecialRules {
public:
    SpecialRules();

    // How many new rules one file may bring now (file_share.h).
    [[nodiscard]] std::size_t file_share() const;

    // The index of `rule`, added if new; nullopt when it is new and MAX_SPECIAL_RULES are in use or
    // `may_add`, if given, is 0. Each rule added takes one off it.
    std::optional<std::uint16_t> index_of(const abi::special_rule& rule,
                                          std::size_t* may_add = nullptr);

    // Rules with index >= `first`, in order: what has come since a caller last looked.
    [[nodiscard]] std::vector<abi::special_rule> since(std::size_t first) const;

private:
    using RuleWords = std::array<std::uint64_t, sizeof(abi::special_rule) / 8>;

    mutable std::mutex mutex_;
    std::vector<abi::special_rule> rules_;
    std::map<RuleWords, std::uint16_t> index_by_rule_;
};

}  // namespace bobbin::unwind_table
