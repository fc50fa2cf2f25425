// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/write_lines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "unwind_table/line_items.h"
#include "unwind_table/second_lines.h"

namespace bobbin::unwind_table {
namespace {

constexpr std::size_t kLineWords = abi::LINE_WORDS;

bool is_macro(std::uint16_t code) { return (code & abi::CODE_MACRO) != 0; }

// The last rule of a macro and the distance from which on it holds.
struct LastRule {
    std::uint32_t distance = 0;
    std::uint16_t code = 0;
};

LastRule last_rule_of(const abi::macro& macro) {
    constexpr std::uint64_t kNone = 0x7f7f7f7f7f7f7f7f;
    static_assert(abi::MACRO_NO_START == 0x7f);
    const std::uint64_t starts_used = macro.starts ^ kNone;
    const int unused_bytes = std::countl_zero(starts_used) / 8;
    if (unused_bytes == abi::MACRO_STARTS) {
        return {0, macro.codes[0]};
    }
    return {static_cast<std::uint32_t>(macro.starts << 8 * unused_bytes >> 56),
            macro.codes[abi::MACRO_STARTS - unused_bytes]};
}

class LineWriter {
public:
    LineWriter(Granules granules, std::span<const abi::macro> macros)
        : granules_(granules), macros_(macros), words_(granules.count * kLineWords) {}

    void write_granule(std::uint32_t granule, std::vector<LineItem>& items) {
        if (items.size() > kLineWords) {
            move_into_second_lines(items, std::uint64_t{granule} << granules_.shift);
        }
        write_line(granule, items);
    }
    std::vector<std::uint32_t> take_words() {
        assert(second_.size() <= abi::MAX_SECOND_LINES);
        words_.resize(words_.size() + second_.size() * kLineWords);
        for (std::size_t i = 0; i < second_.size(); ++i) {
            write_line(granules_.count + i, second_[i]);
        }
        return std::move(words_);
    }

    // A macro that is through by `begin` need not be read from there on: its last rule holds.
    [[nodiscard]] Run without_finished_macro(const Run& entry, std::uint64_t begin) const {
        if (!is_macro(entry.code)) {
            return entry;
        }
        const LastRule last = last_rule(entry.code);
        if (begin - entry.offset_from_base < last.distance) {
            return entry;
        }
        return {.offset_from_base = static_cast<std::uint32_t>(begin), .code = last.code};
    }

private:
    [[nodiscard]] LastRule last_rule(std::uint16_t code) const {
        return last_rule_of(macros_[code & ~unsigned{abi::CODE_MACRO}]);
    }

    void move_into_second_lines(std::vector<LineItem>& items, std::uint64_t granule_begin) {
        std::vector<LineItem> kept;
        std::size_t next = 0;
        for (const ItemRange& range : choose_second_lines(items)) {
            kept.insert(kept.end(), items.begin() + static_cast<std::ptrdiff_t>(next),
                        items.begin() + static_cast<std::ptrdiff_t>(range.begin));
            const std::uint32_t line = places_.place(range.end - range.begin, granule_begin);
            second_.resize(places_.count());
            second_[line].insert(second_[line].end(),
                                 items.begin() + static_cast<std::ptrdiff_t>(range.begin),
                                 items.begin() + static_cast<std::ptrdiff_t>(range.end));
            kept.push_back({.offset_from_base = items[range.begin].offset_from_base,
                            .code_or_line = static_cast<std::uint16_t>(line),
                            .is_link = true});
            next = range.end;
        }
        kept.insert(kept.end(), items.begin() + static_cast<std::ptrdiff_t>(next), items.end());
        items = std::move(kept);
    }

    void write_line(std::size_t line, std::span<const LineItem> items) {
        assert(!items.empty() && items.size() <= kLineWords);
        std::array<std::uint32_t, kLineWords> words{};
        const std::uint32_t split = choose_macros_to_split(items);
        std::size_t count = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            words[count++] = word_of(items[i]);
            if ((split >> i & 1) != 0) {
                const LastRule last = last_rule(items[i].code_or_line);
                words[count++] =
                    word_of({.offset_from_base = items[i].offset_from_base + last.distance,
                             .code_or_line = last.code});
            }
        }
        std::fill(words.begin() + static_cast<std::ptrdiff_t>(count), words.end(),
                  words[count - 1]);
        std::ranges::copy(words, words_.begin() + static_cast<std::ptrdiff_t>(line * kLineWords));
    }

    static std::uint32_t word_of(const LineItem& item) {
        return item.offset_from_base << abi::ENTRY_OFFSET_SHIFT |
               (item.is_link ? std::uint32_t{abi::ENTRY_IS_LINK} : 0) | item.code_or_line;
    }

    // A bit for each item whose last rule gets one of the spare words: those that hold for the most
    // bytes.
    [[nodiscard]] std::uint32_t choose_macros_to_split(std::span<const LineItem> items) const {
        struct Candidate {
            std::uint32_t bytes = 0;
            std::uint32_t item = 0;
        };
        std::array<Candidate, kLineWords> candidates;
        std::size_t count = 0;
        for (std::uint32_t i = 0; i < items.size(); ++i) {
            const LineItem& item = items[i];
            if (item.is_link || !is_macro(item.code_or_line)) {
                continue;
            }
            const std::uint32_t begin = last_rule(item.code_or_line).distance;
            if (begin < item.bytes) {
                candidates[count++] = {item.bytes - begin, i};
            }
        }
        const std::size_t spare = kLineWords - items.size();
        if (count > spare) {
            std::nth_element(candidates.begin(),
                             candidates.begin() + static_cast<std::ptrdiff_t>(spare),
                             candidates.begin() + static_cast<std::ptrdiff_t>(count),
                             [](const Candidate& a, const Candidate& b) {
                                 return a.bytes != b.bytes ? a.bytes > b.bytes : a.item < b.item;
                             });
        }
        std::uint32_t chosen = 0;
        for (std::size_t i = 0; i < std::min(count, spare); ++i) {
            chosen |= 1U << candidates[i].item;
        }
        return chosen;
    }

    Granules granules_;
    std::span<const abi::macro> macros_;
    std::vector<std::uint32_t> words_;
    SecondLines places_;
    std::vector<std::vector<LineItem>> second_;  // what goes into each second line
};

LineItem item_of(const Run& entry) {
    return {.offset_from_base = entry.offset_from_base, .code_or_line = entry.code};
}

void measure(std::span<LineItem> items, std::uint64_t end) {
    for (std::size_t i = items.size(); i-- > 0;) {
        items[i].bytes = static_cast<std::uint32_t>(end - items[i].offset_from_base);
        end = items[i].offset_from_base;
    }
}

}  // namespace

std::vector<std::uint32_t> write_lines(std::span<const Run> entries, Granules granules,
                                       std::span<const abi::macro> macros) {
    LineWriter lines(granules, macros);
    std::vector<LineItem> items;
    Run before{.offset_from_base = 0, .code = abi::CODE_NO_CFI};
    auto entry = entries.begin();
    for (std::uint32_t granule = 0; granule < granules.count; ++granule) {
        const std::uint64_t begin = std::uint64_t{granule} << granules.shift;
        const std::uint64_t end = begin + (std::uint64_t{1} << granules.shift);
        items.clear();
        if (entry == entries.end() || entry->offset_from_base != begin) {
            before = lines.without_finished_macro(before, begin);
            items.push_back(item_of(before));
        }
        for (; entry != entries.end() && entry->offset_from_base < end; ++entry) {
            items.push_back(item_of(*entry));
            before = *entry;
        }
        measure(items, end);
        lines.write_granule(granule, items);
    }
    return lines.take_words();
}

}  // namespace bobbin::unwind_table
