// SPDX-License-Identifier: Apache-2.0
#include "service/kill_switch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_directory.h"

namespace bobbin::service {
namespace {

// Whoever runs the test: a file of somebody else's does not count, root's own /etc/passwd does.
TEST(KillSwitch, IsARootOwnedFile) {
    EXPECT_TRUE(KillSwitch("/etc/passwd").is_on());
    const test::TemporaryDirectory directory;
    const std::filesystem::path path = directory / "killswitch";
    EXPECT_FALSE(KillSwitch(path).is_on());
    std::ofstream(path) << "";
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(KillSwitch(path).is_on(), status.st_uid == 0);
}

}  // namespace
}  // namespace bobbin::service
