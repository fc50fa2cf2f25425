// SPDX-License-Identifier: Apache-2.0
// The tables of every program and library below /usr against their own rows, from whatever section
// those come.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "executable/read_unwind_rows.h"
#include "golden/table_system_files.h"
#include "unit/unwind_table/table_reference.h"
#include "unwind_feed/word_pool.h"
#include "unwind_table/build_table.h"

namespace bobbin::unwind_table {
namespace {

using test::SystemFile;

struct Totals {
    std::uint64_t files = 0;
    std::uint64_t files_without_rows = 0;
    std::uint64_t rows = 0;
    std::uint64_t first_lines = 0;
    std::uint64_t entries = 0;
    std::uint64_t words = 0;
    std::uint64_t rules_dropped = 0;
    std::uint64_t lookups = 0;
    std::uint64_t mismatches = 0;
    std::uint64_t steps = 0;
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
        first_lines += other.first_lines;
        entries += other.entries;
        words += other.words;
        rules_dropped += other.rules_dropped;
        lookups += other.lookups;
        mismatches += other.mismatches;
        steps += other.steps;
        max_steps = std::max(max_steps, other.max_steps);
        complaints.insert(complaints.end(), other.complaints.begin(), other.complaints.end());
    }
};

// nullopt: nothing in it gives a row.
std::optional<SystemFile> read_all_rows(const std::string& path) {
    const UniqueFd fd = test::open_for_reading(path);
    const Result<elf::ElfFile> file = elf::ElfFile::open(fd.get());
    if (!file) {
        return std::nullopt;
    }
    Result<executable::FileRows> rows = executable::read_unwind_rows(*file);
    if (!rows || rows->unwind.rows.empty()) {
        return std::nullopt;
    }
    return SystemFile{.segments = file->load_segments(), .rows = std::move(rows->unwind)};
}

// Looks up the first and the last byte of every row: each boundary, and the byte before each.
class FileCheck {
public:
    FileCheck(const std::string& path, const SystemFile& file, SharedRules& shared,
              unwind_feed::WordPool& pool, Totals& totals)
        : path_(path), file_(file), shared_(shared), pool_(pool), totals_(totals) {}

    void run() {
        const Result<UnwindTable> table = build_table(file_.rows, file_.segments, shared_);
        if (!table) {
            totals_.complain(path_ + ": " + table.error().message());
            return;
        }
        ++totals_.files;
        totals_.rows += table->row_count;
        totals_.first_lines += table->granule_count;
        totals_.entries += table->entry_count;
        totals_.words += table->words.size();
        totals_.rules_dropped += table->rules_dropped;
        if (const ::testing::AssertionResult kept = test::keeps_its_promises(*table); !kept) {
            totals_.complain(path_ + ": " + kept.message());
            return;
        }
        place(*table);
        macros_ = shared_.macros.since(0);
        code_of_rule_.assign(file_.rows.rules.size(), std::nullopt);
        for (const elf::LoadSegment& segment : file_.segments) {
            if (segment.executable && segment.file_size_bytes != 0) {
                check_segment(*table, segment);
            }
        }
    }

private:
    // As the feed does.
    void place(const UnwindTable& table) {
        static std::mutex mutex;
        const std::lock_guard lock(mutex);
        const std::optional<std::uint32_t> first_word = pool_.find_room(table.words.size());
        if (!first_word) {
            totals_.complain(path_ + ": no room in the pool");
            return;
        }
        pool_.take(*first_word, table.words.size());
    }

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
        const std::uint16_t code = find_code(table, file_offset, macros_, &steps);
        ++totals_.lookups;
        totals_.steps += steps;
        totals_.max_steps = std::max(totals_.max_steps, steps);
        if (code != expected) {
            const std::vector<abi::special_rule> specials = shared_.specials.since(0);
            totals_.complain(fmt::format("{} at offset {:#x}: table says {}, row says {}", path_,
                                         file_offset, describe_code(code, specials),
                                         describe_code(expected, specials)));
        }
    }

    std::uint16_t code_of(const cfi::UnwindRule& rule) {
        std::optional<std::uint16_t>& code =
            code_of_rule_[static_cast<std::size_t>(&rule - file_.rows.rules.data())];
        if (!code) {
            code = test::code_or_no_cfi(rule, shared_.specials);
        }
        return *code;
    }

    const std::string& path_;
    const SystemFile& file_;
    SharedRules& shared_;
    unwind_feed::WordPool& pool_;
    Totals& totals_;
    std::span<const abi::macro> macros_;
    std::vector<std::optional<std::uint16_t>> code_of_rule_;
};

Totals check_files(const std::vector<std::string>& paths, SharedRules& shared,
                   unwind_feed::WordPool& pool) {
    Totals all;
    std::mutex all_mutex;
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        Totals mine;
        for (std::size_t i = next++; i < paths.size(); i = next++) {
            if (const std::optional<SystemFile> file = read_all_rows(paths[i])) {
                FileCheck(paths[i], *file, shared, pool, mine).run();
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

// Bytes the kernel charges for an array map of `count` values; 512 bytes more than its map costs.
constexpr std::uint64_t array_map_bytes(std::uint64_t count, std::uint64_t value_bytes) {
    constexpr std::uint64_t kPage = 4096;
    return (count * value_bytes + 512 + kPage - 1) / kPage * kPage;
}

// What the kernel has to keep for the tables, whole maps however full they are: buckets, which are
// mapped into user space and so have their values on pages of their own, the array of buckets,
// macros and special rules.
std::uint64_t charged_bytes(const unwind_feed::WordPool& pool) {
    return pool.bucket_count() * (abi::BUCKET_BYTES + array_map_bytes(0, 0)) +
           array_map_bytes(abi::MAX_BUCKETS, 8) +
           array_map_bytes(abi::MAX_MACROS, sizeof(abi::macro)) +
           array_map_bytes(abi::MAX_SPECIAL_RULES, sizeof(abi::special_rule));
}

TEST(TablesOfTheSystem, SayWhatTheRowsSay) {
    const std::vector<std::string> paths = test::find_system_files();
    SharedRules shared;
    unwind_feed::WordPool pool;
    const Totals totals = check_files(paths, shared, pool);
    const std::uint64_t charged = charged_bytes(pool);
    const auto a_row = [&totals](std::uint64_t bytes) {
        return static_cast<double>(bytes) / static_cast<double>(totals.rows);
    };
    constexpr std::uint64_t kLine = abi::LINE_WORDS;
    fmt::print(
        "{} files, {} more without rows; {} rows, {} entries, {} macros, {} specials, {} rows "
        "dropped\n"
        "bytes a row: {:.3f} as charged ({} buckets); first lines {:.3f}, second lines {:.3f} "
        "(their entries alone would be {:.3f}), unused ends of buckets {:.3f}, macros and specials "
        "{:.3f}\n"
        "{} lookups, {} mismatches, {:.2f} steps on average, {} at most\n",
        totals.files, totals.files_without_rows, totals.rows, totals.entries,
        shared.macros.since(0).size(), shared.specials.since(1).size(), totals.rules_dropped,
        a_row(charged), pool.bucket_count(), a_row(4 * kLine * totals.first_lines),
        a_row(4 * (totals.words - kLine * totals.first_lines)), a_row(4 * totals.entries),
        a_row(pool.bucket_count() * abi::BUCKET_BYTES - 4 * totals.words),
        a_row(charged - pool.bucket_count() * abi::BUCKET_BYTES), totals.lookups, totals.mismatches,
        static_cast<double>(totals.steps) / static_cast<double>(totals.lookups), totals.max_steps);
    ASSERT_GT(totals.files, 0U);
    for (const std::string& complaint : totals.complaints) {
        ADD_FAILURE() << complaint;
    }
    EXPECT_LE(totals.max_steps, unsigned{abi::MAX_SEARCH_STEPS});
    EXPECT_EQ(totals.rules_dropped, 0U);
    // The maps of macros and specials, and the last bucket, are there for the first row already.
    constexpr double kFixedBytes = 3 << 20;
    EXPECT_LE(static_cast<double>(charged), kFixedBytes + 2.0 * static_cast<double>(totals.rows));
    if (totals.rows > 15'000'000) {  // so many that the fixed part is less than 0.2 bytes of them
        EXPECT_LE(a_row(charged), 1.6);
    }
}

}  // namespace
}  // namespace bobbin::unwind_table
