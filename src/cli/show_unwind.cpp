// SPDX-License-Identifier: Apache-2.0
#include "cli/show_unwind.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "cli/open_elf.h"
#include "cli/standard_output.h"
#include "executable/read_unwind_rows.h"
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

Result<executable::FileRows> read_rows(const std::string& path) {
    BOBBIN_TRY(const OpenElf object, open_elf(path));
    BOBBIN_TRY(auto rows, executable::read_unwind_rows(object.file));
    if (rows.sources.empty()) return fail("{} says nothing about unwinding", path);
    return rows;
}

int refuse(const UserError& error) {
    print(error);
    return error.exit_status;
}

}  // namespace

Result<> show_rows(const cfi::UnwindRows& unwind, std::optional<std::uint64_t> pc_file_vaddr,
                   std::FILE* output) {
    const std::vector<std::string> rules = describe_rules(unwind);
    const auto describe_row = [&](const cfi::UnwindRow& row) {
        return fmt::format("{:016x}  {}\n", unwind.file_vaddr(row), rules.at(row.rule));
    };
    if (pc_file_vaddr) {
        const cfi::UnwindRow* const row = find_row(unwind, *pc_file_vaddr);
        if (row == nullptr) return fail("no row covers {:#x}", *pc_file_vaddr);
        return write_text(output, describe_row(*row));
    }
    constexpr std::size_t kPartBytes = 1 << 16;  // all rows of libxul are 150 MB of text
    std::string part;
    for (const cfi::UnwindRow& row : unwind.rows) {
        part += describe_row(row);
        if (part.size() < kPartBytes) continue;
        BOBBIN_CHECK(write_text(output, part));
        part.clear();
    }
    return write_text(output, part);
}

int run_show_unwind(const ShowUnwindCommand& command) {
    const Result<executable::FileRows> rows = read_rows(command.path);
    if (!rows) return refuse(explain_file_failure(rows.error(), command.path));
    const Result<> shown = show_rows(rows->unwind, command.pc_file_vaddr, stdout);
    if (!shown) return refuse(UserError{shown.error().message(), {}, {}, kExitFailure});
    if (rows->damage.empty()) return kExitOk;
    return refuse(UserError{"some rows are missing: " + rows->damage,
                            "the unwind information of " + command.path + " is damaged",
                            {},
                            kExitFailure});
}

}  // namespace bobbin::cli
