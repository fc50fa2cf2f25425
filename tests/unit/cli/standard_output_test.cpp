// SPDX-License-Identifier: Apache-2.0
#include "cli/standard_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "base/unique_fd.h"
#include "cli/object_info.h"
#include "cli/show_unwind.h"

namespace bobbin::cli {
namespace {

TEST(WriteText, SaysWhenTheDiskIsFull) {
    std::FILE* const full = std::fopen("/dev/full", "w");
    ASSERT_NE(full, nullptr);
    const Result<> written = write_text(full, "text");
    EXPECT_EQ(written.error().code().value(), ENOSPC);
    std::fclose(full);
}

TEST(Answer, WritesToStandardOutput) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(answer("text\n"), 0);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "text\n");
}

// The real descriptor 1, as the shell's > /dev/full gives it.
TEST(Verbs, FailWhenTheirOutputCannotBeWritten) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    std::fflush(stdout);
    const UniqueFd before(::dup(STDOUT_FILENO));
    const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    ASSERT_GE(::dup2(full.get(), STDOUT_FILENO), 0);
    testing::internal::CaptureStderr();
    const int info = run_object_info({program, false});
    std::clearerr(stdout);
    const int rows = run_show_unwind({program, std::nullopt});
    std::clearerr(stdout);
    ::dup2(before.get(), STDOUT_FILENO);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(info, 1);
    EXPECT_EQ(rows, 1);
    EXPECT_NE(said.find("No space left on device"), std::string::npos) << said;
}

}  // namespace
}  // namespace bobbin::cli
