// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "elf/elf_file.h"
#include "executable/read_unwind_rows.h"

namespace bobbin::executable {

using UnwindHash = std::array<std::uint64_t, 2>;

// What two files have in common when one table serves both: all that a table is made from. A build
// id alone would not do, because a hostile file can carry libc's. The hash is seeded anew in each
// run, so that nobody can prepare a file for it.
struct ContentKey {
    elf::BuildId build_id;
    std::uint64_t size_bytes = 0;
    UnwindHash unwind_hash{};

    friend std::strong_ordering operator<=>(const ContentKey&, const ContentKey&) = default;
    friend bool operator==(const ContentKey&, const ContentKey&) = default;
};

// Equal for equal sections at equal addresses, in equal segments. nullopt: a section could not be
// read.
std::optional<UnwindHash> hash_unwind_sections(const UnwindSections& sections,
                                               std::span<const elf::LoadSegment> segments);

}  // namespace bobbin::executable
