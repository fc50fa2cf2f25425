// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dwarf/abbrev.h"
#include "dwarf/section.h"
#include "dwarf/unit_header.h"

namespace bobbin::dwarf {

// By the names of version 5; those of a .dwo end in .dwo.
struct Sections {
    Section info;
    Section far_info;  // the same, for looks into other units; empty: as `info`
    Section abbrev;
    Section line;
    Section str;
    Section late_str;  // the same, for looks in order (late_strings.h); empty: as `str`
    Section line_str;
    Section str_offsets;
    Section addr;
    Section ranges;  // of versions 2 to 4
    Section rnglists;
    Section rnglists_offsets;  // the same, for the indexes into it
    Section aranges;
    Section cu_index;  // of a package
};

struct Unit;

// One file with debugging information, and what was learnt of it so far: headers, and each unit's
// root and abbreviations when it is first asked for. Nothing is read before. One thread.
class DebugFile {
public:
    explicit DebugFile(Sections sections);
    DebugFile(const DebugFile&) = delete;
    DebugFile& operator=(const DebugFile&) = delete;
    ~DebugFile();

    Sections sections;
    // What dwz moved out of several files into one of its own; nullptr: none, or not found.
    std::shared_ptr<DebugFile> supplementary;

    // Ascending.
    [[nodiscard]] const std::vector<UnitHeader>& unit_headers();
    [[nodiscard]] Unit& unit(std::size_t index);
    // The unit that holds an offset of .debug_info; nullptr: none does.
    [[nodiscard]] Unit* unit_at(std::uint64_t info_offset);

    [[nodiscard]] std::shared_ptr<const AbbrevTable> abbrevs_at(std::uint64_t offset,
                                                                Encoding encoding);
    // A few bytes of a DIE that no unit in hand holds; see Section::view.
    std::span<const std::byte> far_view(std::uint64_t info_offset, std::uint64_t count) {
        const std::span<const std::byte> near = sections.info.shown(info_offset, count);
        return near.empty() ? sections.far_info.view(info_offset, count) : near;
    }

private:
    using AbbrevKey = std::pair<std::uint64_t, std::uint32_t>;  // offset, encoding

    std::optional<std::vector<UnitHeader>> unit_headers_;
    std::vector<std::unique_ptr<Unit>> units_;
    std::map<AbbrevKey, std::shared_ptr<const AbbrevTable>> abbrevs_;
    std::size_t abbrevs_bytes_ = 0;
};

}  // namespace bobbin::dwarf
