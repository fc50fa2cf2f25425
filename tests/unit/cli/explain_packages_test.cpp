// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "support/temporary_directory.h"

namespace bobbin::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using Paths = std::vector<std::string>;

std::filesystem::path write_program(const test::TemporaryDirectory& directory,
                                    const std::string& text) {
    const std::filesystem::path path = directory.write("dpkg-query", text);
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    return path;
}

// As dpkg-query 1.21 prints them.
TEST(ReadPackages, TakesTheNameWithoutArchitectureAndOthers) {
    EXPECT_THAT(read_packages("diversion by dash from: /bin/sh\n"
                              "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6\n"
                              "bash, dash: /usr/bin/both\n"
                              "a line of something else\n"
                              "nginx: /usr/sbin/nginx",
                              Paths{"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/both",
                                    "/usr/sbin/nginx", "/bin/sh", "/opt/x"}),
                ElementsAre(Pair("/usr/bin/both", "bash"),
                            Pair("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6"),
                            Pair("/usr/sbin/nginx", "nginx")));
    EXPECT_THAT(read_packages("", Paths{"/a"}), IsEmpty());
}

TEST(FindPackages, AsksTheMachine) {
    EXPECT_THAT(find_packages(Paths{"/usr/lib/x86_64-linux-gnu/libc.so.6", "/nonexistent/x",
                                    "[anon]", "/usr/*/libc.so.6"}),
                ElementsAre(Pair("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6")));
}

TEST(FindPackages, HandsPathsOnAsTheyAre) {
    const test::TemporaryDirectory directory;
    const auto program = write_program(
        directory, "#!/bin/sh\nshift\nfor path; do echo \"package: $path\"; done\nexit 1\n");
    EXPECT_THAT(find_packages(Paths{"/opt/$(touch x); a b"}, std::chrono::minutes(1), program),
                ElementsAre(Pair("/opt/$(touch x); a b", "package")));
}

TEST(FindPackages, DoesNotWaitForOneThatNeverEnds) {
    const test::TemporaryDirectory directory;
    const auto program = write_program(directory, "#!/bin/sh\nexec tail -f /dev/null\n");
    EXPECT_THAT(find_packages(Paths{"/opt/a"}, std::chrono::milliseconds(50), program), IsEmpty());
}

TEST(FindPackages, DoesWithoutDpkg) {
    EXPECT_THAT(find_packages(Paths{"/opt/a"}, std::chrono::minutes(1), "/nonexistent/dpkg-query"),
                IsEmpty());
    EXPECT_THAT(find_packages(Paths{}, std::chrono::minutes(1), "/nonexistent/dpkg-query"),
                IsEmpty());
}

}  // namespace
}  // namespace bobbin::cli
