// SPDX-License-Identifier: Apache-2.0
// The tables of every program and library below /usr against their own rows.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "golden/table_system_files.h"
#include "unit/unwind_table/table_reference.h"
#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

using test::SystemFile;

struct Totals {
    std::uint64_t files = 0;
    std::uint64_t files_without_rows = 0;
    std::uint64_t rows = 0;
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rules_dropped = 0;
    std::uint64_t lookups = 0;
    std::uint64_t mismatches = 0;
    unsigned max_steps = 0;
    std::vector<std::string> complaints;

    void complain(std::string text) {
        ++mismatches;
        if (complaints.size() < 20) {
            complaints.push_back(std::move(text));
        }
    }
    void add(const Totals& other) {
        files += other.files;
        files_without_rows += other.files_without_rows;
        rows += other.rows;
        entries += other.entries;
        bytes += other.bytes;
        rules_dropped += other.rules_dropped;
        lookups += other.lookups;
        mismatches += other.mismatches;
        max_steps = std::max(max_steps, other.max_steps);
        complaints.insert(complaints.end(), other.complaints.begin(), other.complaints.end());
    }
};

// Looks up the first and the last byte of every row: each boundary, and the byte before each.
class FileCheck {
public:
    FileCheck(const std::string& path, const SystemFile& file, SpecialRules& specials,
              Totals& totals)
        : path_(path), file_(file), specials_(specials), totals_(totals) {}

    void run() {
        const Result<UnwindTable> table = build_table(file_.rows, file_.segments, specials_);
        if (!table) {
            totals_.complain(path_ + ": " + table.error().message());
            return;
        }
        ++totals_.files;
        totals_.rows += table->row_count;
        totals_.entries += table->entry_count;
        totals_.bytes += table->words.size() * sizeof(std::uint32_t);
        totals_.rules_dropped += table->rules_dropped;
        if (const ::testing::AssertionResult kept = test::keeps_its_promises(*table); !kept) {
            totals_.complain(path_ + ": " + kept.message());
            return;
        }
        code_of_rule_.assign(file_.rows.rules.size(), std::nullopt);
        for (const elf::LoadSegment& segment : file_.segments) {
            if (segment.executable && segment.file_size_bytes != 0) {
                check_segment(*table, segment);
            }
        }
    }

private:
    void check_segment(const UnwindTable& table, const elf::LoadSegment& segment) {
        const cfi::UnwindRows& rows = file_.rows;
        const std::uint64_t begin = segment.file_vaddr;
        const std::uint64_t end = begin + segment.file_size_bytes;
        const std::uint64_t to_offset = segment.file_offset - segment.file_vaddr;
        for (std::size_t i = 0; i < rows.rows.size(); ++i) {
            const std::uint64_t row_begin = std::max(begin, rows.file_vaddr(rows.rows[i]));
            const std::uint64_t row_end =
                i + 1 < rows.rows.size() ? std::min(end, rows.file_vaddr(rows.rows[i + 1])) : end;
            if (row_begin < row_end) {
                const std::uint16_t code = code_of(test::expected_rule(rows, i, begin, end));
                check_byte(table, row_begin + to_offset, code);
                check_byte(table, row_end - 1 + to_offset, code);
            }
        }
        if (rows.rows.empty() || begin < rows.file_vaddr(rows.rows.front())) {
            check_byte(table, segment.file_offset, abi::CODE_NO_CFI);
        }
        check_outside(table, segment.file_offset - 1);
        check_outside(table, segment.file_offset + segment.file_size_bytes);
    }

    void check_outside(const UnwindTable& table, std::uint64_t file_offset) {
        const auto holds = [file_offset](const elf::LoadSegment& segment) {
            return segment.executable &&
                   file_offset - segment.file_offset < segment.file_size_bytes;
        };
        if (std::ranges::none_of(file_.segments, holds)) {
            check_byte(table, file_offset, abi::CODE_NO_CFI);
        }
    }

    void check_byte(const UnwindTable& table, std::uint64_t file_offset, std::uint16_t expected) {
        unsigned steps = 0;
        const std::uint16_t code = find_code(table, file_offset, &steps);
        ++totals_.lookups;
        totals_.max_steps = std::max(totals_.max_steps, steps);
        if (code != expected) {
            const std::vector<abi::special_rule> specials = specials_.since(0);
            totals_.complain(fmt::format("{} at offset {:#x}: table says {}, row says {}", path_,
                                         file_offset, describe_code(code, specials),
                                         describe_code(expected, specials)));
        }
    }

    std::uint16_t code_of(const cfi::UnwindRule& rule) {
        std::optional<std::uint16_t>& code =
            code_of_rule_[static_cast<std::size_t>(&rule - file_.rows.rules.data())];
        if (!code) {
            code = test::code_or_no_cfi(rule, specials_);
        }
        return *code;
    }

    const std::string& path_;
    const SystemFile& file_;
    SpecialRules& specials_;
    Totals& totals_;
    std::vector<std::optional<std::uint16_t>> code_of_rule_;
};

Totals check_files(const std::vector<std::string>& paths, SpecialRules& specials) {
    Totals all;
    std::mutex all_mutex;
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        Totals mine;
        for (std::size_t i = next++; i < paths.size(); i = next++) {
            if (const std::optional<SystemFile> file = test::read_system_file(paths[i])) {
                FileCheck(paths[i], *file, specials, mine).run();
            } else {
                ++mine.files_without_rows;
            }
        }
        const std::lock_guard lock(all_mutex);
        all.add(mine);
    };
    std::thread second(work);
    work();
    second.join();
    return all;
}

TEST(TablesOfTheSystem, SayWhatTheRowsSay) {
    const std::vector<std::string> paths = test::find_system_files();
    SpecialRules specials;
    const Totals totals = check_files(paths, specials);
    const auto rows = static_cast<double>(totals.rows);
    const double bytes_per_row = static_cast<double>(totals.bytes) / rows;
    fmt::print(
        "{} files, {} more without rows; {} rows, {} entries, {} specials, {} rows dropped\n"
        "{} bytes, {:.3f} bytes a row; {} lookups, {} mismatches, {} steps at most\n",
        totals.files, totals.files_without_rows, totals.rows, totals.entries,
        specials.since(1).size(), totals.rules_dropped, totals.bytes, bytes_per_row, totals.lookups,
        totals.mismatches, totals.max_steps);
    ASSERT_GT(totals.files, 0U);
    for (const std::string& complaint : totals.complaints) {
        ADD_FAILURE() << complaint;
    }
    EXPECT_LE(totals.max_steps, unsigned{abi::MAX_SEARCH_STEPS});
    EXPECT_LE(bytes_per_row, 4.5);
}

}  // namespace
}  // namespace bobbin::unwind_table
