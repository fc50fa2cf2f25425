// SPDX-License-Identifier: Apache-2.0
#include "cli/object_info.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/open_elf.h"
#include "cli/standard_output.h"
#include "cli/terminal_text.h"
#include "executable/read_unwind_rows.h"
#include "unwind_table/build_table.h"
#include "unwind_table/shared_rules.h"

namespace bobbin::cli {
namespace {

using Json = nlohmann::ordered_json;

// Fills the part about unwinding; the error becomes `no_unwind_reason`.
Result<> read_unwind_part(const elf::ElfFile& file, const executable::FileRows& rows,
                          ObjectInfo& info) {
    if (rows.sources.empty()) return fail("the file says nothing about unwinding");
    info.sources = rows.sources;
    info.row_count = rows.unwind.rows.size();
    info.distinct_rule_count = rows.unwind.rules.size();
    unwind_table::SharedRules shared;
    BOBBIN_TRY(const unwind_table::UnwindTable table,
               unwind_table::build_table(rows.unwind, file.load_segments(), shared));
    info.table_entry_count = table.entry_count;
    info.table_bytes = table.words.size() * sizeof(table.words.front());
    info.granule_shift = table.granule_shift;
    info.rules_dropped = table.rules_dropped;
    if (!rows.damage.empty()) return fail("some rows are missing: {}", rows.damage);
    return {};
}

std::string describe_segment(const elf::LoadSegment& segment) {
    return fmt::format("segment     offset {:#x} + {:#x} bytes at {:#x}, {:#x} in memory{}\n",
                       segment.file_offset, segment.file_size_bytes, segment.file_vaddr,
                       segment.memory_size_bytes, segment.executable ? ", executable" : "");
}

std::string describe_source(const executable::RowSource& source) {
    return fmt::format("{:<12}{} bytes, {} functions ({} refused)\n", source.section,
                       thousands(source.size_bytes), thousands(source.function_count),
                       thousands(source.function_refused_count));
}

const char* type_text(const ObjectInfo& info) {
    return info.position_independent ? "position-independent (ET_DYN)"
                                     : "fixed addresses (ET_EXEC)";
}

}  // namespace

Result<ObjectInfo> read_object_info(const std::string& path) {
    BOBBIN_TRY(const OpenElf object, open_elf(path));
    ObjectInfo info;
    info.path = path;
    info.build_id = object.file.build_id();
    info.position_independent = object.file.is_position_independent();
    info.segments = object.file.load_segments();
    BOBBIN_TRY(const std::vector<elf::Symbol> symbols, object.file.read_function_symbols());
    info.function_symbol_count = symbols.size();
    const Result<executable::FileRows> rows = executable::read_unwind_rows(object.file);
    const Result<> unwind =
        rows ? read_unwind_part(object.file, *rows, info) : Result<>(fail(rows.error()));
    if (!unwind) info.no_unwind_reason = unwind.error().message();
    info.luajit = read_luajit_info(object, rows ? rows->unwind : cfi::UnwindRows{});
    return info;
}

std::string describe(const ObjectInfo& info) {
    std::string text = fmt::format("path        {}\n", printable(info.path));
    text += fmt::format("build id    {}\n",
                        info.build_id.empty() ? "none" : elf::to_hex(info.build_id));
    text += fmt::format("type        {}\n", type_text(info));
    for (const elf::LoadSegment& segment : info.segments) text += describe_segment(segment);
    text += fmt::format("symbols     {} functions\n", thousands(info.function_symbol_count));
    for (const executable::RowSource& source : info.sources) text += describe_source(source);
    text += fmt::format("rows        {}, {} distinct rules\n", thousands(info.row_count),
                        thousands(info.distinct_rule_count));
    text += fmt::format("table       {} bytes, {} entries, granules of {} bytes (shift {})\n",
                        thousands(info.table_bytes), thousands(info.table_entry_count),
                        info.table_bytes == 0 ? 0 : 1U << info.granule_shift, info.granule_shift);
    if (info.rules_dropped > 0) {
        text += fmt::format("            {} rows without a place for their rule\n",
                            thousands(info.rules_dropped));
    }
    if (!info.no_unwind_reason.empty()) {
        text += fmt::format("unwinding   {}\n", printable(info.no_unwind_reason));
    }
    return text + describe(info.luajit);
}

std::string to_json(const ObjectInfo& info) {
    Json segments = Json::array();
    for (const elf::LoadSegment& segment : info.segments) {
        segments.push_back(Json{{"file_offset", segment.file_offset},
                                {"file_size_bytes", segment.file_size_bytes},
                                {"file_vaddr", segment.file_vaddr},
                                {"memory_size_bytes", segment.memory_size_bytes},
                                {"executable", segment.executable}});
    }
    Json sources = Json::array();
    for (const executable::RowSource& source : info.sources) {
        sources.push_back(Json{{"section", source.section},
                               {"size_bytes", source.size_bytes},
                               {"functions", source.function_count},
                               {"functions_refused", source.function_refused_count}});
    }
    Json report{{"path", info.path},
                {"build_id", elf::to_hex(info.build_id)},
                {"position_independent", info.position_independent},
                {"segments", std::move(segments)},
                {"function_symbols", info.function_symbol_count},
                {"unwind_sources", std::move(sources)},
                {"rows", info.row_count},
                {"distinct_rules", info.distinct_rule_count},
                {"table_entries", info.table_entry_count},
                {"table_bytes", info.table_bytes},
                {"granule_shift", info.granule_shift},
                {"rules_dropped", info.rules_dropped},
                {"luajit", to_json(info.luajit)}};
    if (!info.no_unwind_reason.empty()) report["no_unwind_reason"] = info.no_unwind_reason;
    // A path need not be UTF-8.
    return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int run_object_info(const ObjectInfoCommand& command) {
    const Result<ObjectInfo> info = read_object_info(command.path);
    if (!info) {
        const UserError error = explain_file_failure(info.error(), command.path);
        print(error);
        return error.exit_status;
    }
    return answer(command.json ? to_json(*info) : describe(*info));
}

}  // namespace bobbin::cli
