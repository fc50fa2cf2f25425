// SPDX-License-Identifier: Apache-2.0
#include "unwind_table/build_table.h"

#include <algorithm>
#include <iterator>
#include <shared_mutex>

#include "unwind_table/fold_runs.h"
#include "unwind_table/granule_size.h"
#include "unwind_table/simplify_rows.h"
#include "unwind_table/text_ranges.h"
#include "unwind_table/write_lines.h"

namespace bobbin::unwind_table {
namespace {

std::vector<std::uint32_t> entries_in(const std::vector<std::uint32_t>& words) {
    std::vector<std::uint32_t> entries;
    entries.reserve(words.size());
    std::ranges::copy_if(words, std::back_inserter(entries),
                         [](std::uint32_t word) { return (word & abi::ENTRY_IS_LINK) == 0; });
    return entries;
}

}  // namespace

Result<UnwindTable> build_table(const cfi::UnwindRows& rows,
                                std::span<const elf::LoadSegment> segments, SharedRules& shared) {
    BOBBIN_TRY(const Text text, find_text(segments));
    const std::shared_lock building(shared.building);
    const Runs runs = simplify_rows(rows, text, shared.specials);
    UnwindTable table;
    table.base_file_offset = text.base_file_offset;
    table.row_count = runs.row_count;
    table.rules_dropped = runs.rules_dropped;
    if (runs.runs.empty()) {
        return table;
    }
    const std::vector<Run> entries = fold_runs(runs.runs, shared.macros);
    BOBBIN_TRY(const Granules granules, choose_granules(entries, runs.end_offset));
    table.granule_shift = granules.shift;
    table.granule_count = granules.count;
    table.entry_count = entries.size();
    table.words = write_lines(entries, granules, shared.macros.since(0));
    table.rules = shared.hold(entries_in(table.words));
    return table;
}

}  // namespace bobbin::unwind_table
