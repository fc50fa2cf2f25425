// SPDX-License-Identifier: Apache-2.0
#include "executable/build_executable.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "support/temporary_directory.h"

namespace bobbin::executable {
namespace {

OpenedFile opened(const std::string& path) {
    OpenedFile file;
    file.executable_id = 3;
    file.path = path;
    file.fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return file;
}

TEST(BuildExecutable, GivesTableSegmentsAndIdentityOfARunningProgram) {
    unwind_table::SharedRules shared;
    const auto built = build_executable(opened("/proc/self/exe"), shared);
    EXPECT_EQ(built.executable.refused, "");
    ASSERT_TRUE(built.table.has_value());
    EXPECT_EQ(built.executable.id, 3U);
    EXPECT_TRUE(built.executable.file && built.executable.file->is_held())
        << "names are read from it later";
    EXPECT_TRUE(std::ranges::any_of(built.executable.segments, &elf::LoadSegment::executable));
    EXPECT_GT(built.executable.row_count, 100U);
    EXPECT_EQ(built.executable.table_bytes, built.table->words.size() * 4);
}

TEST(BuildExecutable, RefusesAFileThatIsNoElfAndSaysWhy) {
    unwind_table::SharedRules shared;
    const auto built = build_executable(opened("/etc/passwd"), shared);
    EXPECT_FALSE(built.table.has_value());
    EXPECT_NE(built.executable.refused, "");
    EXPECT_EQ(built.executable.path, "/etc/passwd");
}

TEST(BuildExecutable, RefusesATruncatedElf) {
    const test::TemporaryDirectory directory;
    std::string head(4096, '\0');
    std::ifstream("/proc/self/exe", std::ios::binary).read(head.data(), 4096);
    ASSERT_TRUE(
        head.starts_with("\x7f"
                         "ELF"));
    const std::string path = directory.write("cut", head);
    unwind_table::SharedRules shared;
    const auto built = build_executable(opened(path), shared);
    EXPECT_FALSE(built.table.has_value());
    EXPECT_NE(built.executable.refused, "");
}

// All that a table is made from is the same in a copy; that the name or the inode is another does
// not matter.
TEST(BuildExecutable, MakesNoTableOfACopyWhoseContentIsKnown) {
    unwind_table::SharedRules shared;
    KnownTables known;
    const auto first = build_executable(opened("/proc/self/exe"), shared, &known);
    ASSERT_TRUE(first.table && first.content);
    EXPECT_FALSE(first.is_copy());
    known.add(*first.content, {.executable_id = 3, .row_count = 11, .bytes = 64});
    const auto copy = build_executable(opened("/proc/self/exe"), shared, &known);
    EXPECT_TRUE(copy.is_copy());
    EXPECT_EQ(copy.content, first.content);
    EXPECT_EQ(copy.executable.refused, "");
    EXPECT_EQ(copy.executable.segments.size(), first.executable.segments.size());
    EXPECT_EQ(copy.executable.row_count, 11U);
    EXPECT_EQ(copy.executable.table_bytes, 64U);
}

TEST(BuildExecutable, KnowsNoContentOfWhatItRefuses) {
    unwind_table::SharedRules shared;
    const auto built = build_executable(opened("/etc/passwd"), shared);
    EXPECT_FALSE(built.content.has_value());
    EXPECT_FALSE(built.is_copy());
}

TEST(BuildVdso, RefusesAnImageThatIsNoElf) {
    unwind_table::SharedRules shared;
    const std::array<std::byte, 64> nothing{};
    const auto built = build_vdso(nothing, shared);
    EXPECT_EQ(built.executable.id, unsigned{EXECUTABLE_ID_VDSO});
    EXPECT_FALSE(built.table.has_value());
    EXPECT_NE(built.executable.refused, "");
}

}  // namespace
}  // namespace bobbin::executable
