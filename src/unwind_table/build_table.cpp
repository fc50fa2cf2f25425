// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/build_table.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "unwind_table/simplify_rows.h"
#include "unwind_table/text_ranges.h"

namespace bobbin::unwind_table {
namespace {

constexpr std::uint64_t kMaxWords = 1ULL << 24;  // a directory word has 24 bits for an index
constexpr std::uint64_t kMaxDirectoryWords = 1ULL << 22;
// One directory word for 16 entries: 0.25 bytes a row, and groups of about 4 search steps.
constexpr std::uint64_t kEntriesPerDirectoryWord = 16;

std::uint64_t granule_count(std::uint64_t end_offset, unsigned shift) {
    return (end_offset + (1ULL << shift) - 1) >> shift;
}

// The largest shift at which no granule has more than MAX_GROUP_ENTRIES. A granule has more exactly
// if some run and the MAX_GROUP_ENTRIES-th after it are in it, that is, differ only below `shift`.
unsigned largest_shift(std::span<const Run> runs) {
    std::uint32_t smallest_difference = (1U << (abi::MAX_GRANULE_SHIFT + 1)) - 1;
    for (std::size_t i = abi::MAX_GROUP_ENTRIES; i < runs.size(); ++i) {
        smallest_difference =
            std::min(smallest_difference,
                     runs[i].offset_from_base ^ runs[i - abi::MAX_GROUP_ENTRIES].offset_from_base);
    }
    const unsigned shift = static_cast<unsigned>(std::bit_width(smallest_difference)) - 1;
    assert(shift >= abi::MIN_GRANULE_SHIFT);
    return shift;
}

Result<unsigned> choose_shift(const Runs& runs) {
    const unsigned largest = largest_shift(runs.runs);
    unsigned smallest = abi::MIN_GRANULE_SHIFT;
    while (granule_count(runs.end_offset, smallest) > kMaxDirectoryWords) {
        ++smallest;
    }
    if (smallest > largest) {
        return fail("unwind rows too dense for a text of {} bytes", runs.end_offset);
    }
    for (unsigned shift = smallest; shift < largest; ++shift) {
        if (granule_count(runs.end_offset, shift) * kEntriesPerDirectoryWord <= runs.runs.size()) {
            return shift;
        }
    }
    return largest;
}

std::uint32_t entry_word(const Run& run) { return run.offset_from_base << 16 | run.code; }

// The words behind the directory. After each group the last word is the predecessor of the next.
class Groups {
public:
    explicit Groups(std::vector<std::uint32_t>& words) : words_(words) {
        words_.push_back(abi::CODE_NO_CFI);
    }

    // Appends a group and gives its directory word.
    std::uint32_t append(std::span<const Run> group) {
        // The search reads the first word of an empty group too before it drops it.
        start_chunk_unless_room_for(std::max<std::size_t>(group.size(), 1));
        const std::size_t first = words_.size();
        for (const Run& run : group) {
            words_.push_back(entry_word(run));
        }
        if (!group.empty()) {
            predecessor_ = words_.back();
        }
        return static_cast<std::uint32_t>(first << 8 | group.size());
    }

private:
    // A group and the word before it lie in one chunk.
    void start_chunk_unless_room_for(std::size_t count) {
        const std::size_t predecessor_chunk = (words_.size() - 1) / abi::WORDS_PER_CHUNK;
        if (predecessor_chunk == (words_.size() + count - 1) / abi::WORDS_PER_CHUNK) {
            return;
        }
        words_.resize((predecessor_chunk + 1) * abi::WORDS_PER_CHUNK);
        words_.push_back(predecessor_);
    }

    std::vector<std::uint32_t>& words_;
    std::uint32_t predecessor_ = abi::CODE_NO_CFI;
};

void lay_out(const std::vector<Run>& runs, UnwindTable& table) {
    std::vector<std::uint32_t>& words = table.words;
    words.reserve(table.granule_count + runs.size() + runs.size() / 16 + abi::WORDS_PER_CHUNK);
    words.resize(table.granule_count);
    Groups groups(words);
    auto begin = runs.begin();
    for (std::uint32_t granule = 0; granule < table.granule_count; ++granule) {
        auto end = begin;
        while (end != runs.end() && end->offset_from_base >> table.granule_shift == granule) {
            ++end;
        }
        words[granule] = groups.append({begin, end});
        table.entry_count += static_cast<std::uint64_t>(end - begin);
        begin = end;
    }
    words.resize((words.size() + abi::WORDS_PER_CHUNK - 1) / abi::WORDS_PER_CHUNK *
                 abi::WORDS_PER_CHUNK);
}

}  // namespace

Result<UnwindTable> build_table(const cfi::UnwindRows& rows,
                                std::span<const elf::LoadSegment> segments,
                                SpecialRules& specials) {
    BOBBIN_TRY(const Text text, find_text(segments));
    const Runs runs = simplify_rows(rows, text, specials);
    UnwindTable table;
    table.base_file_offset = text.base_file_offset;
    table.row_count = runs.row_count;
    table.rules_dropped = runs.rules_dropped;
    if (runs.runs.empty()) {
        return table;
    }
    BOBBIN_TRY(table.granule_shift, choose_shift(runs));
    table.granule_count =
        static_cast<std::uint32_t>(granule_count(runs.end_offset, table.granule_shift));
    if (table.granule_count + runs.runs.size() > kMaxWords) {
        return fail("unwind table of {} entries is larger than 2^24 words", runs.runs.size());
    }
    lay_out(runs.runs, table);
    if (table.words.size() > kMaxWords) {
        return fail("unwind table of {} words is larger than 2^24", table.words.size());
    }
    return table;
}

}  // namespace bobbin::unwind_table
