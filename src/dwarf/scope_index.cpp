// SPDX-License-Identifier: Apache-2.0
#include "dwarf/scope_index.h"

#include <algorithm>

namespace bobbin::dwarf {

void ScopeIndex::mark(std::uint64_t place, std::span<const std::uint64_t> open) {
    next_mark_ = place + kMarkDistanceBytes;
    if (open.empty() || open.size() > kMaxMarkDepth) return;
    marks_.push_back({place, open_.size(), open.size()});
    open_.insert(open_.end(), open.begin(), open.end());
}

ByteReader ScopeIndex::last_mark_before(std::uint64_t place, const UnitBytes& unit,
                                        std::vector<std::uint64_t>& open) const {
    const auto next = std::ranges::upper_bound(marks_, place, {}, &Mark::place);
    if (next == marks_.begin()) return unit.reader_at(unit.root());
    const Mark& mark = *(next - 1);
    const auto first = open_.begin() + static_cast<std::ptrdiff_t>(mark.first_open);
    open.assign(first, first + static_cast<std::ptrdiff_t>(mark.open_count));
    return unit.reader_at(mark.place);
}

std::vector<std::uint64_t> ScopeIndex::scopes_of(const UnitBytes& unit, std::uint64_t place) const {
    std::vector<std::uint64_t> open;
    ByteReader die = last_mark_before(place, unit, open);
    while (die.ok() && die.position() < place) {
        const std::uint64_t here = die.position();
        const std::uint64_t code = die.uleb128();
        if (code == 0 && open.empty()) break;
        if (code == 0) {
            open.pop_back();
            continue;
        }
        const Abbrev* abbrev = unit.unit->abbrevs->find(code);
        if (abbrev == nullptr || open.size() >= kMaxDieDepth) break;
        if (abbrev->has_children && abbrev->has_sibling) {
            const std::size_t attributes = die.position();
            skip_to_next_sibling(die, unit, *abbrev);
            if (die.ok() && die.position() <= place) continue;
            die = unit.reader_at(attributes);
        }
        unit.unit->abbrevs->skip(die, *abbrev);
        if (abbrev->has_children) open.push_back(here);
    }
    if (die.position() != place) open.clear();
    return open;
}

}  // namespace bobbin::dwarf
