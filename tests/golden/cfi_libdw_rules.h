// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cfi/unwind_row.h"

namespace bobbin::test {

struct LibdwAnswer {
    // libdw takes the instructions for invalid: it has DW_CFA_def_cfa_register after an expression
    // for that, which perlasm writes and libgcc follows.
    bool refused = false;
    // "No CFI" if no FDE covers the address, or none says where the CFA is.
    cfi::UnwindRule rule;        // without rbx_words
    std::uint8_t rbx_words = 0;  // as in UnwindRule; said of every file
};

// What libdw says of a file's .eh_frame, in our own terms.
class LibdwRules {
public:
    explicit LibdwRules(const std::string& path);
    ~LibdwRules();
    LibdwRules(const LibdwRules&) = delete;
    LibdwRules& operator=(const LibdwRules&) = delete;

    [[nodiscard]] bool is_open() const;
    [[nodiscard]] LibdwAnswer rule_at(std::uint64_t file_vaddr) const;

private:
    struct Handles;
    std::unique_ptr<Handles> handles_;
};

// One line, for failures.
std::string to_text(const cfi::UnwindRule& rule);

}  // namespace bobbin::test
