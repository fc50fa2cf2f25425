// SPDX-License-Identifier: Apache-2.0
#include "dwarf/inline_walk.h"

#include <algorithm>

#include "dwarf/constants.h"

namespace bobbin::dwarf {
namespace {

bool may_hold_inlined_calls(std::uint16_t tag) {
    return tag == kTagInlinedSubroutine || tag == kTagLexicalBlock || tag == kTagTryBlock ||
           tag == kTagCatchBlock;
}

// The addresses asked for are the map: each range is painted onto those that it covers, and what
// comes later in the tree lies deeper or, as LLVM has it, on top. A map of all ranges would have to
// be split and sorted for addresses that nobody asks for.
class InlineWalk {
public:
    InlineWalk(const UnitBytes& unit, std::span<const std::uint64_t> vaddrs, Budget& budget)
        : unit_(unit), abbrevs_(*unit.unit->abbrevs), vaddrs_(vaddrs), budget_(budget) {
        found_.innermost.assign(vaddrs.size(), -1);
    }

    InlinedCalls run(std::uint64_t function_place) {
        ByteReader die = unit_.reader_at(function_place);
        const Abbrev* function = unit_.read_abbrev(die);
        if (function == nullptr || !function->has_children) return std::move(found_);
        abbrevs_.skip(die, *function);
        open_.push_back({});
        while (!open_.empty() && !die.at_end() && budget_.spend(1)) {
            const std::uint64_t place = die.position();
            const std::uint64_t code = die.uleb128();
            if (code == 0) {
                open_.pop_back();
                continue;
            }
            const Abbrev* abbrev = abbrevs_.find(code);
            if (abbrev == nullptr || !visit(die, *abbrev, place)) break;
        }
        read_details();
        return std::move(found_);
    }

private:
    struct Open {
        std::size_t call_count = 0;  // inlined calls around here
        bool is_foreign = false;     // inside of something else: an inner function, a class
    };
    struct OpenCall {
        std::uint64_t place = 0;
        std::int32_t number = -1;  // in found_.calls; -1: it covers no address so far
    };

    bool visit(ByteReader& die, const Abbrev& abbrev, std::uint64_t place) {
        Open inside = open_.back();
        const bool is_call = abbrev.tag == kTagInlinedSubroutine && !inside.is_foreign;
        if (is_call) {
            open_calls_.resize(inside.call_count++);
            open_calls_.push_back({place});
            // What was inlined into it lies in its ranges, and many have a tree below them.
            const bool is_elsewhere = abbrev.has_code && !take_call(die, abbrev);
            if (is_elsewhere && abbrev.has_children && abbrev.has_sibling) {
                skip_to_next_sibling(die, unit_, abbrev);
                return die.ok();
            }
        } else if (abbrev.has_children && !may_hold_inlined_calls(abbrev.tag)) {
            if (abbrev.has_sibling) {
                skip_to_next_sibling(die, unit_, abbrev);
                return die.ok();
            }
            inside.is_foreign = true;
        }
        abbrevs_.skip(die, abbrev);
        if (!abbrev.has_children) return die.ok();
        if (open_.size() >= kMaxDieDepth) return false;
        open_.push_back(inside);
        return die.ok();
    }

    // Whether it covers an address.
    bool take_call(const ByteReader& die, const Abbrev& abbrev) {
        const CodeAttributes code =
            CodeAttributes::read(die, abbrevs_, abbrev, unit_.unit->header.encoding);
        ranges_.clear();
        append_ranges(*unit_.unit, code, ranges_);
        bool covers_any = false;
        for (const Range& range : ranges_) covers_any |= paint(range);
        return covers_any;
    }

    bool paint(const Range& range) {
        auto vaddr = std::ranges::lower_bound(vaddrs_, range.start_vaddr);
        if (vaddr == vaddrs_.end() || *vaddr >= range.end_vaddr) return false;
        const std::int32_t number = number_innermost();
        for (; vaddr != vaddrs_.end() && *vaddr < range.end_vaddr && budget_.spend(1); ++vaddr) {
            found_.innermost[static_cast<std::size_t>(vaddr - vaddrs_.begin())] = number;
        }
        return true;
    }

    // Most calls cover no address and need no number.
    std::int32_t number_innermost() {
        auto first_new = open_calls_.size();
        while (first_new > 0 && open_calls_[first_new - 1].number < 0) --first_new;
        for (std::size_t i = first_new; i < open_calls_.size(); ++i) {
            open_calls_[i].number = static_cast<std::int32_t>(found_.calls.size());
            const std::int32_t parent = i == 0 ? -1 : open_calls_[i - 1].number;
            found_.calls.push_back({.place = open_calls_[i].place, .parent = parent});
        }
        return open_calls_.back().number;
    }

    void read_details() {
        for (InlinedCall& call : found_.calls) {
            ByteReader die = unit_.reader_at(call.place);
            const Abbrev* abbrev = unit_.read_abbrev(die);
            for (const Attribute& attribute : abbrevs_.attributes_of(*abbrev)) {
                read_detail(die, attribute, call);
            }
        }
    }

    void read_detail(ByteReader& die, const Attribute& attribute, InlinedCall& call) const {
        const std::uint64_t raw = read_field(die, attribute, unit_.unit->header.encoding);
        if (attribute.name == kAtCallFile) call.call_file = raw;
        if (attribute.name == kAtCallLine) call.call_line = static_cast<std::uint32_t>(raw);
        if (attribute.name == kAtAbstractOrigin) {
            call.origin = reference_of(*unit_.unit, attribute.form, raw);
        }
    }

    const UnitBytes& unit_;
    const AbbrevTable& abbrevs_;
    std::span<const std::uint64_t> vaddrs_;
    Budget& budget_;
    InlinedCalls found_;
    std::vector<Open> open_;
    std::vector<OpenCall> open_calls_;  // of which open_.back().call_count still are
    std::vector<Range> ranges_;
};

}  // namespace

InlinedCalls find_inlined_calls(const UnitBytes& unit, std::uint64_t function_place,
                                std::span<const std::uint64_t> vaddrs, Budget& budget) {
    return InlineWalk(unit, vaddrs, budget).run(function_place);
}

}  // namespace bobbin::dwarf
