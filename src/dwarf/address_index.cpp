// SPDX-License-Identifier: Apache-2.0
#include "dwarf/address_index.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "dwarf/aranges.h"
#include "dwarf/unit.h"

namespace bobbin::dwarf {

// Collects the intervals of all units, then cuts them where one begins or ends.
class AddressIndexReader {
public:
    AddressIndexReader(DebugFile& file, Budget& budget)
        : file_(file), budget_(budget), is_listed_(file.unit_headers().size()) {}

    AddressIndex read() {
        take_listed_ranges();
        read_roots();
        return flatten();
    }

private:
    // Where an interval begins (+1) or ends (-1).
    struct Border {
        std::uint64_t vaddr = 0;
        std::uint32_t unit = 0;
        int step = 0;
    };

    void add(const Range& range, std::size_t unit) {
        borders_.push_back({range.start_vaddr, static_cast<std::uint32_t>(unit), 1});
        borders_.push_back({range.end_vaddr, static_cast<std::uint32_t>(unit), -1});
    }

    void take_listed_ranges() {
        const ListedRanges listed = read_aranges(file_.sections.aranges, budget_);
        for (const std::uint64_t info_offset : listed.info_offsets) {
            const auto unit = find_unit(file_.unit_headers(), info_offset);
            if (unit) is_listed_[*unit] = true;
        }
        for (const auto& [info_offset, range] : listed.ranges) {
            const auto unit = find_unit(file_.unit_headers(), info_offset);
            if (unit) add(range, *unit);
        }
    }

    void read_roots() {
        std::vector<Range> ranges;
        for (std::size_t i = 0; i < is_listed_.size() && budget_.spend(64); ++i) {
            if (is_listed_[i] || !file_.unit_headers()[i].has_code()) continue;
            const Unit& unit = file_.unit(i);
            ranges.clear();
            append_ranges(unit, unit.code, ranges);
            for (const Range& range : ranges) add(range, i);
        }
    }

    AddressIndex flatten() {
        AddressIndex index;
        std::ranges::sort(borders_, {}, [](const Border& border) {
            return std::tuple(border.vaddr, border.step, border.unit);
        });
        std::map<std::uint32_t, int> open;
        std::uint64_t start = 0;
        for (const Border& border : borders_) {
            if (!open.empty() && start < border.vaddr) {
                append(index, start, border.vaddr, open.begin()->first);
            }
            start = border.vaddr;
            int& depth = open[border.unit];
            depth += border.step;
            if (depth == 0) open.erase(border.unit);
        }
        return index;
    }

    static void append(AddressIndex& index, std::uint64_t start, std::uint64_t end,
                       std::uint32_t unit) {
        auto& intervals = index.intervals_;
        const bool continues = !intervals.empty() && intervals.back().end_vaddr == start &&
                               intervals.back().unit == unit;
        if (continues) {
            intervals.back().end_vaddr = end;
        } else {
            intervals.push_back({start, end, unit});
        }
    }

    DebugFile& file_;
    Budget& budget_;
    std::vector<bool> is_listed_;
    std::vector<Border> borders_;
};

AddressIndex AddressIndex::read(DebugFile& file, Budget& budget) {
    return AddressIndexReader(file, budget).read();
}

std::vector<std::size_t> AddressIndex::units_of(std::span<const std::uint64_t> addresses) const {
    std::vector<std::size_t> units(addresses.size(), kNoUnit);
    auto interval = intervals_.begin();
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        interval = std::find_if(interval, intervals_.end(), [&](const Interval& candidate) {
            return candidate.end_vaddr > addresses[i];
        });
        if (interval == intervals_.end()) break;
        if (interval->start_vaddr <= addresses[i]) units[i] = interval->unit;
    }
    return units;
}

}  // namespace bobbin::dwarf
