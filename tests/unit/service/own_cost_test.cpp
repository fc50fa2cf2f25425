// SPDX-License-Identifier: Apache-2.0
#include "service/own_cost.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace bobbin::service {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// A shell that keeps 32 MiB of text, which takes up to four times as much while it grows.
TEST(ChildrenBytes, AreWhatOnlyTheChildrenHave) {
    std::array<int, 2> ready{};
    std::array<int, 2> end{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    ASSERT_EQ(::pipe(end.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::dup2(end[0], STDIN_FILENO);
        ::dup2(ready[1], STDOUT_FILENO);
        ::close(end[1]);
        ::execlp("sh", "sh", "-c",
                 "text=$(head -c 33554432 /dev/zero | tr '\\0' x); echo ready; read -r line",
                 nullptr);
        ::_exit(127);
    }
    ::close(ready[1]);
    ::close(end[0]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    const std::uint64_t with_child = children_bytes();
    ::close(end[1]);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ::close(ready[0]);
    EXPECT_GE(with_child, 32 * kMiB);
    EXPECT_LT(with_child, 200 * kMiB);
    EXPECT_EQ(children_bytes(), 0U);
}

}  // namespace
}  // namespace bobbin::service
