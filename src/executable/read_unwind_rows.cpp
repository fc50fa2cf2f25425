// SPDX-License-Identifier: Apache-2.0
#include "executable/read_unwind_rows.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "cfi/eh_frame.h"
#include "cfi/merge_rows.h"
#include "executable/start_code_rows.h"
#include "pclntab/function_table.h"
#include "pclntab/program_tables.h"
#include "pclntab/text_start.h"
#include "pclntab/unwind_rows.h"

namespace bobbin::executable {
namespace {

struct SourceRows {
    RowSource source;  // without a size: the file has no such section
    cfi::UnwindRows unwind;
    std::string stopped;
};

SourceRows rows_of(std::string_view name, const elf::SectionBytes& section, pclntab::GoRows rows) {
    return {{name, section.bytes.size(), rows.function_count, rows.function_refused_count},
            std::move(rows.unwind),
            std::move(rows.stopped)};
}

SourceRows rows_of(std::string_view name, const elf::SectionBytes& section, cfi::EhFrame frames) {
    return {{name, section.bytes.size(), frames.fde_count, frames.fde_refused_count},
            std::move(frames.unwind),
            std::move(frames.stopped)};
}

Result<SourceRows> read_go_rows(Result<MaybeSection> functions,
                                const Result<MaybeSection>& module) {
    BOBBIN_TRY(const MaybeSection section, std::move(functions));
    if (!section) return SourceRows{};
    BOBBIN_TRY(auto table, pclntab::FunctionTable::open(section->bytes));
    if (!table.knows_text_start()) {
        BOBBIN_TRY(const MaybeSection module_data, module);
        BOBBIN_CHECK(pclntab::tell_text_start(module_data, section->file_vaddr, table));
    }
    BOBBIN_TRY(auto rows, pclntab::read_unwind_rows(table));
    return rows_of(".gopclntab", *section, std::move(rows));
}

Result<SourceRows> read_eh_frame(Result<MaybeSection> eh_frame) {
    BOBBIN_TRY(const MaybeSection section, std::move(eh_frame));
    if (!section) return SourceRows{};
    BOBBIN_TRY(auto frames, cfi::read_eh_frame(section->bytes, section->file_vaddr));
    return rows_of(".eh_frame", *section, std::move(frames));
}

Result<SourceRows> read_debug_frame(Result<MaybeSection> debug_frame) {
    BOBBIN_TRY(const MaybeSection section, std::move(debug_frame));
    if (!section) return SourceRows{};
    BOBBIN_TRY(auto frames, cfi::read_debug_frame(section->bytes));
    return rows_of(".debug_frame", *section, std::move(frames));
}

// None where they are other code.
Result<SourceRows> read_start_code(const Result<MaybeSection>& init,
                                   const Result<MaybeSection>& fini) {
    BOBBIN_CHECK(init);
    BOBBIN_CHECK(fini);
    cfi::UnwindRows rows = read_start_code_rows(*init, *fini);
    if (rows.rows.empty()) return SourceRows{};
    const std::uint64_t bytes =
        (*init ? (*init)->bytes.size() : 0) + (*fini ? (*fini)->bytes.size() : 0);
    return SourceRows{{".init", bytes, 1, 0}, std::move(rows), {}};
}

Result<MaybeSection> read_if_small(const elf::ElfFile& elf, std::string_view name) {
    const auto place = elf.find_section(name);
    if (!place || place->size_bytes > kMaxStartCodeBytes) return MaybeSection{};
    return elf.read_section(name);
}

// Empty when every function's information could be read.
std::string describe_damage(const SourceRows& rows) {
    const RowSource& source = rows.source;
    if (!rows.stopped.empty() || source.function_refused_count == 0) return rows.stopped;
    return fmt::format("{} of {} functions have malformed unwind information",
                       source.function_refused_count,
                       source.function_count + source.function_refused_count);
}

// Puts one source behind those before it. One that cannot be read costs only itself.
class RowCollector {
public:
    void add(Result<SourceRows> rows) {
        if (!rows) return add_damage(rows.error().message());
        if (rows->source.size_bytes == 0) return;
        file_.sources.push_back(rows->source);
        add_damage(describe_damage(*rows));
        add_rows(std::move(rows->unwind));
    }

    Result<FileRows> take() {
        if (file_.unwind.rows.empty() && !file_.damage.empty()) return fail("{}", file_.damage);
        if (file_.unwind.rules.empty()) file_.unwind.rules.emplace_back();
        return std::move(file_);
    }

private:
    void add_damage(std::string damage) {
        if (file_.damage.empty()) file_.damage = std::move(damage);
    }
    void add_rows(cfi::UnwindRows rows) {
        if (rows.rows.empty()) return;
        file_.unwind = file_.unwind.rows.empty() ? std::move(rows)
                                                 : cfi::merge_rows(std::move(file_.unwind), rows);
    }

    FileRows file_;
};

}  // namespace

UnwindSections read_unwind_sections(const elf::ElfFile& elf) {
    UnwindSections sections{.go_functions = pclntab::read_table_section(elf),
                            .go_module = {},
                            .eh_frame = elf.read_eh_frame(),
                            .debug_frame = elf.read_debug_frame(),
                            .init = read_if_small(elf, ".init"),
                            .fini = read_if_small(elf, ".fini")};
    if (sections.go_functions && *sections.go_functions) {
        sections.go_module = elf.read_section(".go.module");
    }
    return sections;
}

// Each section's bytes go when their rows are made.
Result<FileRows> read_unwind_rows(UnwindSections sections) {
    RowCollector rows;
    rows.add(read_go_rows(std::move(sections.go_functions), sections.go_module));
    rows.add(read_eh_frame(std::move(sections.eh_frame)));
    rows.add(read_debug_frame(std::move(sections.debug_frame)));
    rows.add(read_start_code(sections.init, sections.fini));
    return rows.take();
}

Result<FileRows> read_unwind_rows(const elf::ElfFile& elf) {
    return read_unwind_rows(read_unwind_sections(elf));
}

}  // namespace bobbin::executable
