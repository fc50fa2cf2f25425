// SPDX-License-Identifier: Apache-2.0
#include "executable/build_cost.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "executable/build_executable.h"

namespace bobbin::executable {
namespace {

OpenedFile opened(const std::string& path, int flags) {
    OpenedFile file;
    file.path = path;
    file.fd = UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
    return file;
}

// Its rows take 8 bytes each, and are all there at once; so is the section.
TEST(EstimateBuildBytes, SaysMoreThanSectionAndRowsTake) {
    OpenedFile file = opened("/proc/self/exe", O_RDONLY);
    const std::uint64_t estimate = estimate_build_bytes(file);
    const auto elf = elf::ElfFile::open(file.fd.get());
    ASSERT_TRUE(elf.has_value());
    const auto section = elf->read_eh_frame();
    ASSERT_TRUE(section && *section);
    unwind_table::SharedRules shared;
    const auto built = build_executable(std::move(file), shared);
    EXPECT_GT(estimate, (*section)->bytes.size() + built.executable.row_count * 8);
}

TEST(EstimateBuildBytes, OpensForReadingWhatWasOnlyFound) {
    OpenedFile found = opened("/proc/self/exe", O_PATH);
    OpenedFile readable = opened("/proc/self/exe", O_RDONLY);
    EXPECT_EQ(estimate_build_bytes(found), estimate_build_bytes(readable));
    char byte = 0;
    EXPECT_EQ(::pread(found.fd.get(), &byte, 1, 0), 1);
}

TEST(EstimateBuildBytes, FindsNothingToReadInWhatIsNoElfFile) {
    OpenedFile text = opened("/etc/passwd", O_RDONLY);
    EXPECT_EQ(estimate_build_bytes(text), 0U);
    OpenedFile nothing;
    EXPECT_EQ(estimate_build_bytes(nothing), 0U);
}

}  // namespace
}  // namespace bobbin::executable
