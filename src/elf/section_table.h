// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "elf/file_bytes.h"

namespace bobbin::elf {

// Section headers and contents, over libelf. libelf is shown the file only after the counts and
// offsets that it allocates by were found to fit, and each object of it lives for one call, so that
// nothing it caches stays behind.
class SectionTable {
public:
    // The kernel does not look at section headers, so a process may well run a file whose are cut
    // off or nonsense: such a file has an empty table, which is no error.
    static Result<SectionTable> read(const FileBytes& file, const Elf64_Ehdr& header);

    // The first section of that name.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
    [[nodiscard]] const Elf64_Shdr& operator[](std::size_t index) const { return headers_[index]; }
    [[nodiscard]] std::size_t size() const { return headers_.size(); }
    [[nodiscard]] std::span<const Elf64_Shdr> headers() const { return headers_; }

    [[nodiscard]] bool has_bytes(std::size_t index) const {
        return headers_[index].sh_type != SHT_NOBITS;
    }

    // As long as read_bytes() would give it, as far as its header can be believed: what does not
    // fit there is an error here only where the header itself cannot be read.
    [[nodiscard]] Result<std::uint64_t> unpacked_size(const FileBytes& file,
                                                      std::size_t index) const;

    // Decompressed. Error: the section leaves the file or is larger than `max_bytes`, before or
    // after.
    [[nodiscard]] Result<std::vector<std::byte>> read_bytes(const FileBytes& file,
                                                            std::size_t index,
                                                            std::uint64_t max_bytes) const;

private:
    [[nodiscard]] bool starts_with(const Elf64_Shdr& header, std::string_view text) const;

    std::vector<Elf64_Shdr> headers_;
    std::vector<std::byte> names_;  // .shstrtab
};

}  // namespace bobbin::elf
