// SPDX-License-Identifier: Apache-2.0
#include "dwarf/resolve_unit.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "dwarf/split_unit.h"

namespace bobbin::dwarf {
namespace {

// Chains of ceph-osd reach 31. Beyond this the outermost inlined functions are left out.
constexpr std::size_t kMaxInlinedFrames = 256;

}  // namespace

void UnitResolver::resolve(const Unit& unit, std::span<const Query> queries,
                           std::span<const std::uint32_t> numbers) {
    numbers_ = numbers;
    queries_.clear();
    std::vector<std::uint64_t> vaddrs;
    for (const std::uint32_t number : numbers) {
        queries_.push_back(queries[number]);
        vaddrs.push_back(queries[number].vaddr);
    }
    lines_ = LineTable::read(unit);
    files_.assign(lines_ ? lines_->file_count() : 0, 0);
    rows_.assign(numbers.size(), {});
    if (lines_) rows_ = lines_->find_rows(vaddrs, line_budget_);

    if (!options_.wants_inlined_calls || !inline_budget_.look()) {
        add_lines_only();
    } else if (unit.dwo_name.empty()) {
        resolve_functions(unit);
    } else {
        resolve_split(unit);
    }
}

void UnitResolver::resolve_split(const Unit& skeleton) {
    if (options_.package != nullptr) {
        if (const auto unit = find_packaged_unit(*options_.package, skeleton)) {
            resolve_functions(*unit);
            return;
        }
    }
    const std::shared_ptr<DebugFile> dwo =
        options_.open_split_file ? options_.open_split_file(skeleton) : nullptr;
    const auto unit = dwo ? find_split_unit(*dwo, skeleton) : std::nullopt;
    if (!unit) {
        ++resolution_.missing_split_units;
        add_lines_only();
        return;
    }
    resolve_functions(*unit);
    names_.forget(dwo.get());
}

void UnitResolver::resolve_functions(const Unit& code) {
    const std::uint64_t start = code.header.offset;
    const UnitBytes unit{&code,
                         code.file->sections.info.view(start, code.header.end_offset - start)};
    ScopeIndex scopes;
    std::vector<FunctionHit> hits =
        find_functions(unit, queries_, Nested::kSkip, scopes, inline_budget_);
    look_inside_functions(unit, hits);
    names_.set_unit(&unit, &scopes);
    add_functions(unit, hits);
    names_.set_unit(nullptr, nullptr);
}

// An address without a function though a symbol covers it, or a line where there are no symbols,
// lies in a function inside of a function. Padding between functions is no reason to look.
void UnitResolver::look_inside_functions(const UnitBytes& unit, std::vector<FunctionHit>& hits) {
    std::vector<Query> missed;
    std::vector<std::size_t> missed_numbers;
    for (std::size_t i = 0; i < hits.size(); ++i) {
        const bool is_expected =
            options_.has_symbols ? queries_[i].symbol_vaddr != 0 : rows_[i].is_known;
        if (hits[i].place != 0 || !is_expected) continue;
        missed.push_back(queries_[i]);
        missed_numbers.push_back(i);
    }
    if (missed.empty()) return;
    ScopeIndex unused;
    const std::vector<FunctionHit> found =
        find_functions(unit, missed, Nested::kDescend, unused, inline_budget_);
    for (std::size_t i = 0; i < found.size(); ++i) hits[missed_numbers[i]] = found[i];
}

// Function by function, each with its addresses.
void UnitResolver::add_functions(const UnitBytes& unit, std::span<const FunctionHit> hits) {
    std::vector<std::uint32_t> order(hits.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return hits[i].place; });
    std::vector<std::uint64_t> vaddrs;
    for (auto first = order.begin(); first != order.end();) {
        const std::uint64_t place = hits[*first].place;
        const auto last = std::find_if(first, order.end(),
                                       [&](std::uint32_t i) { return hits[i].place != place; });
        if (place == 0) {
            for (; first != last; ++first) add_line_only(*first);
            continue;
        }
        vaddrs.clear();
        for (auto i = first; i != last; ++i) vaddrs.push_back(queries_[*i].vaddr);
        const InlinedCalls inlined = find_inlined_calls(unit, place, vaddrs, inline_budget_);
        const std::uint32_t function =
            names_.number_of({unit.unit->file, unit.unit->header.offset + place});
        for (std::size_t i = 0; first != last; ++first, ++i) {
            add_chain(*first, inlined, inlined.innermost[i], function);
        }
    }
}

// A frame's own place is the call in it, the innermost one's is the line table's.
void UnitResolver::add_chain(std::uint32_t query, const InlinedCalls& inlined,
                             std::int32_t innermost, std::uint32_t function) {
    const LineRow& row = rows_[query];
    Frame frame{0, row.is_known ? file_number(row.file) : 0, row.line};
    auto& frames = resolution_.frames;
    const std::size_t first = frames.size();
    for (std::int32_t i = innermost; i >= 0 && frames.size() - first < kMaxInlinedFrames;) {
        const InlinedCall& call = inlined.calls[static_cast<std::size_t>(i)];
        frame.function = names_.number_of(call.origin);
        frames.push_back(frame);
        frame = {0, file_number(call.call_file), call.call_line};
        i = call.parent;
    }
    frame.function = function;
    frames.push_back(frame);
    resolution_.spans[numbers_[query]] = {static_cast<std::uint32_t>(first),
                                          static_cast<std::uint32_t>(frames.size() - first)};
}

void UnitResolver::add_lines_only() {
    for (std::uint32_t i = 0; i < numbers_.size(); ++i) add_line_only(i);
}

void UnitResolver::add_line_only(std::uint32_t query) {
    const LineRow& row = rows_[query];
    if (!row.is_known) return;
    resolution_.spans[numbers_[query]] = {static_cast<std::uint32_t>(resolution_.frames.size()), 1};
    resolution_.frames.push_back({0, file_number(row.file), row.line});
}

std::uint32_t UnitResolver::file_number(std::uint64_t file) {
    if (file >= files_.size()) return 0;
    std::uint32_t& number = files_[file];
    if (number == 0) number = resolution_.strings.number_of(lines_->path_of(file));
    return number;
}

}  // namespace bobbin::dwarf
