// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bobbin::elf {

// One PT_LOAD. In memory, file bytes [file_offset, +file_size) stand at [file_vaddr, +file_size)
// plus the load bias.
struct LoadSegment {
    std::uint64_t file_offset = 0;
    std::uint64_t file_size_bytes = 0;
    std::uint64_t file_vaddr = 0;
    std::uint64_t memory_size_bytes = 0;
    bool executable = false;
};

struct SectionBytes {
    std::vector<std::byte> bytes;  // decompressed
    std::uint64_t file_vaddr = 0;
};

// Where a section lies in memory, as its header says; the bytes may stand in another file.
struct SectionPlace {
    std::uint64_t file_vaddr = 0;
    std::uint64_t size_bytes = 0;
};

// One function symbol of .symtab or .dynsym. Size 0 means "not stated" (assembly).
struct Symbol {
    std::uint64_t file_vaddr = 0;
    std::uint64_t size_bytes = 0;
    std::string name;  // as in the file: mangled, with its @version cut off
    // Where its section ends, and with it a symbol of no size: _init has none, and .plt comes next.
    std::uint64_t section_end_file_vaddr = ~std::uint64_t{0};
};

// NT_GNU_BUILD_ID; empty when the file has none.
using BuildId = std::vector<std::byte>;
std::string to_hex(std::span<const std::byte> bytes);

// One 64-bit little-endian x86-64 ELF file, read with pread only: a target may truncate or replace
// its file at any moment, and an mmap of it would then be a SIGBUS. The bytes are hostile: every
// size is checked against the file and the limits below before anything is allocated. Any thread,
// one at a time. It does not follow debug links and knows nothing of processes.
class ElfFile {
public:
    // What one file may cost us. libxul's .eh_frame has 13 MiB, the largest .symtab seen 80 MiB.
    static constexpr std::uint64_t kMaxSectionBytes = 256ULL << 20;
    static constexpr std::size_t kMaxSegments = 256;
    static constexpr std::size_t kMaxSections = 65536;
    static constexpr std::size_t kMaxSymbols = 8ULL << 20;

    // `fd` is borrowed and must stay open as long as the object. Only a regular file is accepted.
    static Result<ElfFile> open(int fd);

    ElfFile(ElfFile&&) noexcept;
    ElfFile& operator=(ElfFile&&) noexcept;
    ~ElfFile();

    [[nodiscard]] const std::vector<LoadSegment>& load_segments() const;
    [[nodiscard]] const BuildId& build_id() const;
    [[nodiscard]] bool is_position_independent() const;  // ET_DYN

    // Decompressed, both as gABI has it (SHF_COMPRESSED, zlib only) and where the name begins with
    // .zdebug_. nullopt: there is no such section, or it has no bytes here (SHT_NOBITS, as in
    // separate debug files). Error: it leaves the file or is larger than `max_bytes`, before or
    // after.
    [[nodiscard]] Result<std::optional<SectionBytes>> read_section(
        std::string_view name, std::uint64_t max_bytes = kMaxSectionBytes) const;
    // Without reading it: Go's function table counts from the start of .text.
    [[nodiscard]] std::optional<SectionPlace> find_section(std::string_view name) const;

    // How many bytes of it there would be to read, by what its header says; 0: none. A header may
    // lie.
    [[nodiscard]] std::uint64_t section_bytes(std::string_view name) const;

    // .eh_frame by section header or, where section headers are stripped, by PT_GNU_EH_FRAME, whose
    // header points at it (LSB 5.0 chapter 10.6.2); it then ends with its segment.
    [[nodiscard]] Result<std::optional<SectionBytes>> read_eh_frame() const;
    // How many bytes of it there would be to read, likewise.
    [[nodiscard]] std::uint64_t eh_frame_bytes() const;
    // .debug_frame or .zdebug_frame.
    [[nodiscard]] Result<std::optional<SectionBytes>> read_debug_frame() const;

    // STT_FUNC and STT_GNU_IFUNC with an address, of .symtab, else of .dynsym; unsorted.
    [[nodiscard]] Result<std::vector<Symbol>> read_function_symbols() const;

private:
    struct State;
    explicit ElfFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// The two ways between the address spaces of a file; nullopt outside every segment.
std::optional<std::uint64_t> file_offset_of(std::span<const LoadSegment> segments,
                                            std::uint64_t file_vaddr);
std::optional<std::uint64_t> file_vaddr_of(std::span<const LoadSegment> segments,
                                           std::uint64_t file_offset);

}  // namespace bobbin::elf
