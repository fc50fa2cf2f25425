// SPDX-License-Identifier: Apache-2.0
#include "dwarf/function_walk.h"

#include <algorithm>

#include "dwarf/constants.h"

namespace bobbin::dwarf {
namespace {

bool holds_functions(std::uint16_t tag) {
    return tag == kTagNamespace || tag == kTagModule || tag == kTagCompileUnit ||
           tag == kTagSkeletonUnit;
}

// CU > subprogram > [lexical_block >] class > subprogram: 43 of ceph-mds' 13,618 functions.
bool may_hold_nested_functions(std::uint16_t tag) {
    return tag == kTagLexicalBlock || tag == kTagClass || tag == kTagStructure ||
           tag == kTagUnion || tag == kTagSubprogram;
}

class FunctionWalk {
public:
    FunctionWalk(const UnitBytes& unit, std::span<const Query> queries, Nested nested,
                 Budget& budget)
        : unit_(unit),
          abbrevs_(*unit.unit->abbrevs),
          queries_(queries),
          nested_(nested),
          budget_(budget),
          hits_(queries.size()) {}

    std::vector<FunctionHit> run(ScopeIndex& scopes) {
        ByteReader die = unit_.reader_at(unit_.root());
        while (!die.at_end() && budget_.spend(1)) {
            scopes.note(die.position(), open_);
            const std::uint64_t place = die.position();
            const std::uint64_t code = die.uleb128();
            if (code == 0) {
                if (!leave()) break;
                continue;
            }
            const Abbrev* abbrev = abbrevs_.find(code);
            if (abbrev == nullptr || !visit(die, *abbrev, place)) break;
        }
        return std::move(hits_);
    }

private:
    // False: the root has ended.
    bool leave() {
        if (open_.empty()) return false;
        open_.pop_back();
        if (open_.size() < function_depth_) function_depth_ = 0;
        return !open_.empty();
    }

    // False: the rest of the unit makes no sense.
    bool visit(ByteReader& die, const Abbrev& abbrev, std::uint64_t place) {
        const bool is_function = abbrev.tag == kTagSubprogram;
        const bool jumps = abbrev.has_children && abbrev.has_sibling && !descends(abbrev.tag);
        if (is_function && abbrev.has_code && !queries_.empty()) take_function(die, abbrev, place);
        if (jumps) {
            skip_to_next_sibling(die, unit_, abbrev);
            return die.ok();
        }
        abbrevs_.skip(die, abbrev);
        if (abbrev.has_children) {
            if (open_.size() >= kMaxDieDepth) return false;
            open_.push_back(place);
            if (is_function && function_depth_ == 0) function_depth_ = open_.size();
        }
        return die.ok();
    }

    [[nodiscard]] bool descends(std::uint16_t tag) const {
        if (holds_functions(tag)) return true;
        if (nested_ == Nested::kSkip) return false;
        return tag == kTagSubprogram || (function_depth_ != 0 && may_hold_nested_functions(tag));
    }

    void take_function(const ByteReader& die, const Abbrev& abbrev, std::uint64_t place) {
        const CodeAttributes code =
            CodeAttributes::read(die, abbrevs_, abbrev, unit_.unit->header.encoding);
        ranges_.clear();
        append_ranges(*unit_.unit, code, ranges_);
        for (const Range& range : ranges_) paint(range, place);
    }

    void paint(const Range& range, std::uint64_t place) {
        auto query = std::ranges::lower_bound(queries_, range.start_vaddr, {}, &Query::vaddr);
        for (; query != queries_.end() && query->vaddr < range.end_vaddr; ++query) {
            if (!budget_.spend(1)) return;
            FunctionHit& hit = hits_[static_cast<std::size_t>(query - queries_.begin())];
            const FunctionHit other{place, range.start_vaddr, range.end_vaddr - range.start_vaddr};
            if (is_better(other, hit, query->symbol_vaddr)) hit = other;
        }
    }

    static bool is_better(const FunctionHit& a, const FunctionHit& b, std::uint64_t symbol_vaddr) {
        if (b.place == 0) return true;
        const bool a_starts = a.range_start_vaddr == symbol_vaddr;
        const bool b_starts = b.range_start_vaddr == symbol_vaddr;
        if (a_starts != b_starts) return a_starts;
        return a.range_bytes < b.range_bytes;  // else the first, which is there already
    }

    const UnitBytes& unit_;
    const AbbrevTable& abbrevs_;
    std::span<const Query> queries_;
    Nested nested_;
    Budget& budget_;
    std::vector<FunctionHit> hits_;
    std::vector<std::uint64_t> open_;  // DIEs around the next one, by place
    std::size_t function_depth_ = 0;   // of the outermost open function; 0: none is open
    std::vector<Range> ranges_;
};

}  // namespace

std::vector<FunctionHit> find_functions(const UnitBytes& unit, std::span<const Query> queries,
                                        Nested nested, ScopeIndex& scopes, Budget& budget) {
    return FunctionWalk(unit, queries, nested, budget).run(scopes);
}

}  // namespace bobbin::dwarf
