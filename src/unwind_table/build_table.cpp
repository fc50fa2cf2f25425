// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/build_table.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "unwind_table/fold_runs.h"
#include "unwind_table/simplify_rows.h"
#include "unwind_table/text_ranges.h"

namespace bobbin::unwind_table {
namespace {

constexpr std::uint64_t kMaxWords = 1ULL << 24;  // a directory word has 24 bits for an index
constexpr std::uint64_t kMaxDirectoryWords = 1ULL << 22;
// Over /usr one directory word for 4 entries makes 1.05 bytes a row and, at addresses spread over
// the text, 2.2 steps a search; for 2 it is 1.20 and 1.5, for 8 it is 0.98 and 3.0, for 16 it is
// 0.94 and 3.8. A step is 2-3 ns in BPF.
constexpr std::uint64_t kEntriesPerDirectoryWord = 4;

std::uint64_t granule_count(std::uint64_t end_offset, unsigned shift) {
    return (end_offset + (1ULL << shift) - 1) >> shift;
}

// The largest shift at which no granule has more than MAX_GROUP_ENTRIES. A granule has more exactly
// if some entry and the MAX_GROUP_ENTRIES-th after it are in it, that is, differ only below
// `shift`.
unsigned largest_shift(std::span<const Run> entries) {
    std::uint32_t smallest_difference = (1U << (abi::MAX_GRANULE_SHIFT + 1)) - 1;
    for (std::size_t i = abi::MAX_GROUP_ENTRIES; i < entries.size(); ++i) {
        smallest_difference =
            std::min(smallest_difference, entries[i].offset_from_base ^
                                              entries[i - abi::MAX_GROUP_ENTRIES].offset_from_base);
    }
    const unsigned shift = static_cast<unsigned>(std::bit_width(smallest_difference)) - 1;
    assert(shift >= abi::MIN_GRANULE_SHIFT);
    return shift;
}

Result<unsigned> choose_shift(std::span<const Run> entries, std::uint64_t end_offset) {
    const unsigned largest = largest_shift(entries);
    unsigned smallest = abi::MIN_GRANULE_SHIFT;
    while (granule_count(end_offset, smallest) > kMaxDirectoryWords) {
        ++smallest;
    }
    if (smallest > largest) {
        return fail("unwind rows too dense for a text of {} bytes", end_offset);
    }
    for (unsigned shift = smallest; shift < largest; ++shift) {
        if (granule_count(end_offset, shift) * kEntriesPerDirectoryWord <= entries.size()) {
            return shift;
        }
    }
    return largest;
}

std::uint32_t entry_word(const Run& entry) { return entry.offset_from_base << 16 | entry.code; }

std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

// The words behind the directory. After each group the last word is the predecessor of the next.
class Groups {
public:
    explicit Groups(std::vector<std::uint32_t>& words) : words_(words) {
        words_.push_back(abi::CODE_NO_CFI);
    }

    // Appends a group and gives its directory word.
    std::uint32_t append(std::span<const Run> group) {
        start_bucket_unless_room_for(group.size());
        const std::size_t first = words_.size();
        for (const Run& entry : group) {
            words_.push_back(entry_word(entry));
        }
        if (!group.empty()) {
            predecessor_ = words_.back();
        }
        return static_cast<std::uint32_t>(first << 8 | group.size());
    }

    void finish() { words_.resize(round_up(words_.size(), abi::TABLE_ALIGNMENT_WORDS)); }

private:
    // A group and the word before it lie in one bucket.
    void start_bucket_unless_room_for(std::size_t count) {
        const std::size_t predecessor_bucket = (words_.size() - 1) / abi::BUCKET_WORDS;
        if (predecessor_bucket == (words_.size() + count - 1) / abi::BUCKET_WORDS) {
            return;
        }
        words_.resize((predecessor_bucket + 1) * abi::BUCKET_WORDS);
        words_.push_back(predecessor_);
    }

    std::vector<std::uint32_t>& words_;
    std::uint32_t predecessor_ = abi::CODE_NO_CFI;
};

void lay_out(std::span<const Run> entries, UnwindTable& table) {
    std::vector<std::uint32_t>& words = table.words;
    words.reserve(table.granule_count + entries.size() +
                  (entries.size() / abi::BUCKET_WORDS + 1) * (abi::MAX_GROUP_ENTRIES + 1));
    words.resize(table.granule_count);
    Groups groups(words);
    auto begin = entries.begin();
    for (std::uint32_t granule = 0; granule < table.granule_count; ++granule) {
        auto end = begin;
        while (end != entries.end() && end->offset_from_base >> table.granule_shift == granule) {
            ++end;
        }
        words[granule] = groups.append({begin, end});
        begin = end;
    }
    groups.finish();
    table.entry_count = entries.size();
}

}  // namespace

Result<UnwindTable> build_table(const cfi::UnwindRows& rows,
                                std::span<const elf::LoadSegment> segments, SharedRules& shared) {
    BOBBIN_TRY(const Text text, find_text(segments));
    const Runs runs = simplify_rows(rows, text, shared.specials);
    UnwindTable table;
    table.base_file_offset = text.base_file_offset;
    table.row_count = runs.row_count;
    table.rules_dropped = runs.rules_dropped;
    if (runs.runs.empty()) {
        return table;
    }
    const std::vector<Run> entries = fold_runs(runs.runs, runs.end_offset, shared.macros);
    BOBBIN_TRY(table.granule_shift, choose_shift(entries, runs.end_offset));
    table.granule_count =
        static_cast<std::uint32_t>(granule_count(runs.end_offset, table.granule_shift));
    if (table.granule_count + entries.size() > kMaxWords) {
        return fail("unwind table of {} entries is larger than 2^24 words", entries.size());
    }
    lay_out(entries, table);
    if (table.words.size() > kMaxWords) {
        return fail("unwind table of {} words is larger than 2^24", table.words.size());
    }
    return table;
}

}  // namespace bobbin::unwind_table
