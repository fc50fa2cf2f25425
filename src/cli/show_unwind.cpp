// SPDX-License-Identifier: Apache-2.0
#include "cli/show_unwind.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "cfi/eh_frame.h"
#include "cli/open_elf.h"
#include "unwind_table/build_table.h"
#include "unwind_table/special_rules.h"

namespace bobbin::cli {
namespace {

// One text a distinct rule: libxul has 2.4 million rows of 1,332 rules.
std::vector<std::string> describe_rules(const cfi::UnwindRows& unwind) {
    unwind_table::SpecialRules specials;
    std::vector<std::optional<std::uint16_t>> codes;
    codes.reserve(unwind.rules.size());
    for (const cfi::UnwindRule& rule : unwind.rules) {
        codes.push_back(unwind_table::encode_rule(rule, specials));
    }
    const std::vector<abi::special_rule> all_specials = specials.since(0);
    std::vector<std::string> texts;
    texts.reserve(codes.size());
    for (const std::optional<std::uint16_t> code : codes) {
        texts.push_back(code ? unwind_table::describe_code(*code, all_specials)
                             : "no place left for this rule");
    }
    return texts;
}

// The last row that begins at or below the pc.
const cfi::UnwindRow* find_row(const cfi::UnwindRows& unwind, std::uint64_t pc_file_vaddr) {
    const auto above = std::upper_bound(
        unwind.rows.begin(), unwind.rows.end(), pc_file_vaddr,
        [&](std::uint64_t pc, const cfi::UnwindRow& row) { return pc < unwind.file_vaddr(row); });
    return above == unwind.rows.begin() ? nullptr : &*(above - 1);
}

Result<> show(const ShowUnwindCommand& command) {
    BOBBIN_TRY(const OpenElf object, open_elf(command.path));
    BOBBIN_TRY(const std::optional<elf::SectionBytes> section, object.file.read_eh_frame());
    if (!section) return fail("{} has no .eh_frame", command.path);
    BOBBIN_TRY(const cfi::EhFrame frames, cfi::read_eh_frame(section->bytes, section->file_vaddr));
    BOBBIN_CHECK(show_rows(frames.unwind, command.pc_file_vaddr, stdout));
    if (frames.stopped.empty()) return {};
    return fail(".eh_frame of {} ends early: {}", command.path, frames.stopped);
}

}  // namespace

Result<> show_rows(const cfi::UnwindRows& unwind, std::optional<std::uint64_t> pc_file_vaddr,
                   std::FILE* output) {
    const std::vector<std::string> rules = describe_rules(unwind);
    const auto print_row = [&](const cfi::UnwindRow& row) {
        fmt::print(output, "{:016x}  {}\n", unwind.file_vaddr(row), rules.at(row.rule));
    };
    if (!pc_file_vaddr) {
        for (const cfi::UnwindRow& row : unwind.rows) print_row(row);
        return {};
    }
    const cfi::UnwindRow* const row = find_row(unwind, *pc_file_vaddr);
    if (row == nullptr) return fail("no row covers {:#x}", *pc_file_vaddr);
    print_row(*row);
    return {};
}

int run_show_unwind(const ShowUnwindCommand& command) {
    const Result<> shown = show(command);
    if (shown) return kExitOk;
    const UserError error = explain_file_failure(shown.error(), command.path);
    print(error);
    return error.exit_status;
}

}  // namespace bobbin::cli
