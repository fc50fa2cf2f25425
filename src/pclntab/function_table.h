// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace bobbin::pclntab {

// By the magic number: internal/abi/symtab.go. The order is that of time.
enum class Version : std::uint8_t { kGo12, kGo116, kGo118, kGo120 };

// Bits of _func.flag, internal/abi/symtab.go: "top of its stack" and "writes an arbitrary value to
// SP" since Go 1.17, "written in assembly" since 1.18. The byte was 0 before.
inline constexpr std::uint8_t kTopFrame = 1;
inline constexpr std::uint8_t kWritesSp = 2;
inline constexpr std::uint8_t kAssembly = 4;

struct Function {
    std::uint64_t start_file_vaddr = 0;
    std::uint64_t end_file_vaddr = 0;  // where the next one starts
    std::uint64_t record_offset = 0;   // of its _func, in the section
    std::uint32_t name_offset = 0;
    std::uint32_t stack_depths_offset = 0;  // pcsp; 0: no table, as for linked C functions
    std::uint8_t flags = 0;
};

// The function table of a Go program, `.gopclntab`, which strip keeps because the runtime itself
// unwinds with it. Only views the section: 64-bit, little-endian, instructions of any length
// (quantum 1), as on x86-64. Nothing in it is trusted: each access is checked against the section.
// Layouts: runtime/symtab.go (pcHeader), runtime/runtime2.go (_func), cmd/link/internal/ld/pcln.go.
class FunctionTable {
public:
    static Result<FunctionTable> open(std::span<const std::byte> section);

    // Since Go 1.26 the table counts addresses from where the text starts and does not say where
    // that is (text_start.h). Until it is told, addresses count from 0.
    [[nodiscard]] bool knows_text_start() const {
        return !has_offsets() || text_start_file_vaddr_ != 0;
    }
    void set_text_start(std::uint64_t file_vaddr) { text_start_file_vaddr_ = file_vaddr; }

    [[nodiscard]] Version version() const { return version_; }
    [[nodiscard]] std::size_t size() const { return function_count_; }
    // In the order of addresses, if the file is sound. nullopt: its entry or record is damaged.
    [[nodiscard]] std::optional<Function> function(std::size_t index) const;

    // The last one that starts at or before the address, in a sound file the one whose code lies
    // there. nullopt: the address lies before the first or behind the last.
    [[nodiscard]] std::optional<std::size_t> find(std::uint64_t file_vaddr) const;

    // At most kMaxNameBytes of it, so that names cannot be made to cost quadratic time.
    static constexpr std::size_t kMaxNameBytes = 64;
    [[nodiscard]] std::string_view name_of(const Function& function) const;
    // What stands from the function's stack depths on (stack_depths.h); they end by themselves.
    [[nodiscard]] std::span<const std::byte> stack_depths_of(const Function& function) const;

    // For names (function_record.h). A name or a file is cut off at kMaxTextBytes; empty: there is
    // none. Tables of `pctab` and records end by themselves.
    static constexpr std::size_t kMaxTextBytes = 4096;  // PATH_MAX
    [[nodiscard]] std::string_view name_at(std::uint32_t name_offset) const;
    // As `pcfile` numbers it, since Go 1.16 among those of its compilation unit.
    [[nodiscard]] std::string_view file_name(std::uint32_t unit_offset, std::uint32_t number) const;
    [[nodiscard]] std::span<const std::byte> values_at(std::uint32_t offset) const;
    [[nodiscard]] std::span<const std::byte> record_of(const Function& function) const;
    [[nodiscard]] std::uint64_t names_start() const { return names_start_; }

private:
    explicit FunctionTable(std::span<const std::byte> section) : section_(section) {}

    Result<> read_header();
    [[nodiscard]] bool has_offsets() const { return version_ >= Version::kGo118; }
    [[nodiscard]] std::span<const std::byte> from(std::uint64_t start, std::uint64_t offset) const;
    [[nodiscard]] std::uint64_t read_word(std::uint64_t offset) const;
    [[nodiscard]] std::uint64_t start_of(std::size_t index) const;

    std::span<const std::byte> section_;
    Version version_ = Version::kGo12;
    std::uint64_t text_start_file_vaddr_ = 0;  // 0 where the table has addresses
    std::size_t function_count_ = 0;
    // Where the parts start in the section; up to Go 1.15 all offsets count from its beginning.
    std::uint64_t names_start_ = 0;
    std::uint64_t unit_files_start_ = 0;  // cutab, since Go 1.16
    std::uint64_t files_start_ = 0;
    std::uint64_t values_start_ = 0;     // pctab
    std::uint64_t functions_start_ = 0;  // the entries, and what their record offsets count from
    std::uint64_t entries_start_ = 0;
};

// Where a table begins in a section that has other things too: ld puts it into .data.rel.ro when Go
// before 1.26 links a PIE by it. Aligned to 8 bytes as the linker does.
std::optional<std::size_t> find_function_table(std::span<const std::byte> section);

}  // namespace bobbin::pclntab
