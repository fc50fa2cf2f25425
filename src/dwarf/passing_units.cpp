// SPDX-License-Identifier: Apache-2.0
#include "dwarf/passing_units.h"

#include <algorithm>

namespace bobbin::dwarf {

PassingUnits::PassingUnits(DebugFile& file, std::span<const Query> queries, Budget& budget)
    : file_(file),
      queries_(queries),
      budget_(budget),
      listed_(read_aranges(file.sections.aranges, budget)),
      headers_(file.sections.info),
      is_taken_(queries.size()),
      left_count_(queries.size()) {}

std::optional<PassingUnits::Found> PassingUnits::next() {
    while (left_count_ > 0 && budget_.look()) {
        const std::optional<UnitHeader> header = headers_.next();
        if (!header) break;
        std::optional<Unit> unit;
        read_ranges(*header, unit);
        std::vector<std::uint32_t> queries = take_queries();
        if (queries.empty()) continue;
        file_.sections.info.view(header->offset, header->end_offset - header->offset);
        if (!unit) unit = read_unit(file_, *header);
        return Found{std::move(*unit), std::move(queries)};
    }
    return std::nullopt;
}

// By .debug_aranges, or by the unit's root where that does not speak of it.
void PassingUnits::read_ranges(const UnitHeader& header, std::optional<Unit>& unit) {
    ranges_.clear();
    const auto listed = std::ranges::lower_bound(listed_.info_offsets, header.offset);
    if (listed != listed_.info_offsets.end() && *listed < header.end_offset) {
        auto entry = std::ranges::lower_bound(listed_.ranges, header.offset, {},
                                              &ListedRanges::UnitRange::info_offset);
        for (; entry != listed_.ranges.end() && entry->info_offset < header.end_offset; ++entry) {
            ranges_.push_back(entry->range);
        }
        return;
    }
    if (!header.has_code()) return;
    const std::uint64_t size = header.end_offset - header.offset;
    file_.sections.info.view(header.offset, std::min(size, kMaxRootBytes));
    unit = read_unit(file_, header);
    append_ranges(*unit, unit->code, ranges_);
}

std::vector<std::uint32_t> PassingUnits::take_queries() {
    std::vector<std::uint32_t> numbers;
    for (const Range& range : ranges_) {
        auto query = std::ranges::lower_bound(queries_, range.start_vaddr, {}, &Query::vaddr);
        for (; query != queries_.end() && query->vaddr < range.end_vaddr; ++query) {
            if (!budget_.spend(1)) break;
            const auto number = static_cast<std::size_t>(query - queries_.begin());
            if (is_taken_[number]) continue;
            is_taken_[number] = true;
            numbers.push_back(static_cast<std::uint32_t>(number));
        }
    }
    left_count_ -= numbers.size();
    std::ranges::sort(numbers);
    return numbers;
}

}  // namespace bobbin::dwarf
