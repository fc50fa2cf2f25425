// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cfi/unwind_row.h"

namespace bobbin::test {

// What libdw says of a file's .eh_frame, in our own terms.
class LibdwRules {
public:
    explicit LibdwRules(const std::string& path);
    ~LibdwRules();
    LibdwRules(const LibdwRules&) = delete;
    LibdwRules& operator=(const LibdwRules&) = delete;

    [[nodiscard]] bool is_open() const;
    // nullopt: no FDE covers the address, or none that says where the CFA is.
    [[nodiscard]] std::optional<cfi::UnwindRule> rule_at(std::uint64_t file_vaddr) const;

private:
    struct Handles;
    std::unique_ptr<Handles> handles_;
};

// One line, for failures.
std::string to_text(const cfi::UnwindRule& rule);

}  // namespace bobbin::test
