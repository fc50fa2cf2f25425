// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "elf/elf_file.h"
#include "pclntab/unwind_rows.h"

namespace bobbin::test {

// A Go program: our rows, and what others say of it.
struct GoProgram {
    std::string path;
    pclntab::GoRows rows;
    std::vector<elf::Symbol> functions;  // of Go, by .symtab, sorted by address
    elf::SectionBytes text;

    // What our rows say of an address.
    [[nodiscard]] const cfi::UnwindRule& rule_at(std::uint64_t file_vaddr) const;
    [[nodiscard]] std::string function_at(std::uint64_t file_vaddr) const;
    // The bytes before an address, at most `count`.
    [[nodiscard]] std::span<const std::byte> text_before(std::uint64_t file_vaddr,
                                                         std::size_t count) const;
};

// Fails the test when the program cannot be read.
GoProgram read_go_program(const std::string& path);

}  // namespace bobbin::test
