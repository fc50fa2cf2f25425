// SPDX-License-Identifier: Apache-2.0
#include "symbolize/elf_symbolizer.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "symbolize/alias_order.h"

namespace bobbin::symbolize {
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

struct Candidate {
    std::uint64_t start_vaddr = 0;
    std::uint64_t end_vaddr = 0;
    bool is_sized = false;
    std::string name;
};

// Least preferred first. Candidates of one start end with the smallest, so that a sweep that takes
// the last one which covers an address takes the innermost.
bool is_less_preferred(const Candidate& a, const Candidate& b) {
    if (a.is_sized != b.is_sized) return b.is_sized;
    if (a.start_vaddr != b.start_vaddr) return a.start_vaddr < b.start_vaddr;
    if (a.end_vaddr != b.end_vaddr) return a.end_vaddr > b.end_vaddr;
    return is_better_alias(b.name, a.name);
}

std::uint64_t segment_end(std::span<const elf::LoadSegment> segments, std::uint64_t vaddr) {
    for (const elf::LoadSegment& segment : segments) {
        if (vaddr >= segment.file_vaddr && vaddr - segment.file_vaddr < segment.memory_size_bytes) {
            return segment.file_vaddr +
                   std::min(segment.memory_size_bytes, kNoEnd - segment.file_vaddr);
        }
    }
    return vaddr;  // in no segment: it covers nothing
}

std::uint64_t end_of(const elf::Symbol& symbol) {
    return symbol.file_vaddr + std::min(symbol.size_bytes, kNoEnd - symbol.file_vaddr);
}

// Where a symbol without a size may end: where any begins, and where a sized one around it ends.
std::vector<std::uint64_t> sorted_boundaries(const std::vector<elf::Symbol>& symbols) {
    std::vector<std::uint64_t> boundaries;
    const auto is_unsized = [](const elf::Symbol& symbol) { return symbol.size_bytes == 0; };
    if (std::none_of(symbols.begin(), symbols.end(), is_unsized)) return boundaries;
    boundaries.reserve(2 * symbols.size());
    for (const elf::Symbol& symbol : symbols) {
        boundaries.push_back(symbol.file_vaddr);
        boundaries.push_back(end_of(symbol));
    }
    std::sort(boundaries.begin(), boundaries.end());
    return boundaries;
}

bool covers_any(std::span<const std::uint64_t> addresses, std::uint64_t start, std::uint64_t end) {
    const auto first = std::lower_bound(addresses.begin(), addresses.end(), start);
    return first != addresses.end() && *first < end;
}

// libLLVM has hundreds of thousands of symbols and a profile some hundred addresses in it: only
// what covers an address is kept and sorted.
std::vector<Candidate> take_candidates(std::vector<elf::Symbol>& symbols,
                                       std::span<const elf::LoadSegment> segments,
                                       std::span<const std::uint64_t> addresses) {
    const std::vector<std::uint64_t> boundaries = sorted_boundaries(symbols);
    std::vector<Candidate> candidates;
    for (elf::Symbol& symbol : symbols) {
        const std::uint64_t start = symbol.file_vaddr;
        std::uint64_t end = end_of(symbol);
        if (symbol.size_bytes == 0) {
            const auto next = std::upper_bound(boundaries.begin(), boundaries.end(), start);
            end = std::min({segment_end(segments, start), symbol.section_end_file_vaddr,
                            next == boundaries.end() ? kNoEnd : *next});
        }
        if (!covers_any(addresses, start, end)) continue;
        candidates.push_back({start, end, symbol.size_bytes != 0, std::move(symbol.name)});
    }
    return candidates;
}

// Walks addresses and candidates, both ascending. `open` holds the candidates that started and may
// not have ended, the latest start on top: what has ended at one address covers no later one, so it
// is dropped once it comes to the top.
class Sweep {
public:
    explicit Sweep(std::span<const Candidate> candidates) : candidates_(candidates) {}

    const Candidate* find(std::uint64_t address) {
        for (; next_ < candidates_.size() && candidates_[next_].start_vaddr <= address; ++next_) {
            if (candidates_[next_].end_vaddr > address) open_.push_back(&candidates_[next_]);
        }
        while (!open_.empty() && open_.back()->end_vaddr <= address) open_.pop_back();
        return open_.empty() ? nullptr : open_.back();
    }

private:
    std::span<const Candidate> candidates_;
    std::size_t next_ = 0;
    std::vector<const Candidate*> open_;
};

}  // namespace

std::vector<CoveringSymbol> find_covering_symbols(std::vector<elf::Symbol> symbols,
                                                  std::span<const elf::LoadSegment> segments,
                                                  std::span<const std::uint64_t> addresses) {
    std::vector<Candidate> candidates = take_candidates(symbols, segments, addresses);
    std::sort(candidates.begin(), candidates.end(), is_less_preferred);
    const auto first_sized = std::partition_point(candidates.begin(), candidates.end(),
                                                  [](const Candidate& c) { return !c.is_sized; });
    Sweep unsized(std::span(candidates.begin(), first_sized));
    Sweep sized(std::span(first_sized, candidates.end()));

    std::vector<CoveringSymbol> covering(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const Candidate* without_size = unsized.find(addresses[i]);
        const Candidate* found = sized.find(addresses[i]);
        if (found == nullptr) found = without_size;
        if (found != nullptr) covering[i] = {found->start_vaddr, found->name};
    }
    return covering;
}

std::vector<std::vector<NamedFrame>> name_by_symbols(std::vector<elf::Symbol> symbols,
                                                     std::span<const elf::LoadSegment> segments,
                                                     std::span<const std::uint64_t> addresses) {
    std::vector<std::vector<NamedFrame>> names(addresses.size());
    std::vector<CoveringSymbol> covering =
        find_covering_symbols(std::move(symbols), segments, addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (!covering[i].name.empty()) names[i].push_back({std::move(covering[i].name), {}, 0, {}});
    }
    return names;
}

Result<std::vector<std::vector<NamedFrame>>> ElfSymbolizer::name(
    std::span<const std::uint64_t> addresses) {
    BOBBIN_TRY(std::vector<elf::Symbol> symbols, file_.read_function_symbols());
    return name_by_symbols(std::move(symbols), file_.load_segments(), addresses);
}

}  // namespace bobbin::symbolize
