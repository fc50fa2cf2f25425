// SPDX-License-Identifier: Apache-2.0
#include "push/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_directory.h"

namespace bobbin::push {
namespace {

using testing::ElementsAre;

std::vector<std::string> contents(const Spool& spool) {
    std::vector<std::string> all;
    for (const Spool::Item& item : spool.oldest(1000)) {
        const auto bytes = spool.read(item);
        all.push_back(bytes ? *bytes : bytes.error().message());
    }
    return all;
}

TEST(Spool, GivesBackInTheOrderThatThingsCame) {
    const test::TemporaryDirectory directory;
    Spool spool(directory / "a/b", 1000);
    for (const char* text : {"one", "two", "three"}) ASSERT_TRUE(spool.append(text));
    EXPECT_THAT(contents(spool), ElementsAre("one", "two", "three"));
    EXPECT_EQ(spool.facts().bytes, 3U + 3U + 5U);
    EXPECT_TRUE(spool.remove(spool.oldest(1).front()));
    EXPECT_THAT(contents(spool), ElementsAre("two", "three"));
    EXPECT_EQ(spool.facts().bytes, 8U);
    EXPECT_EQ(spool.facts().dropped_count, 0U);
}

TEST(Spool, DropsTheOldestForWantOfRoomAndCounts) {
    const test::TemporaryDirectory directory;
    Spool spool(directory / "spool", 10);
    ASSERT_TRUE(spool.append("0000"));
    const Spool::Item first = spool.oldest(1).front();
    ASSERT_TRUE(spool.append("1111"));
    ASSERT_TRUE(spool.append("2222"));  // 12 of 10
    EXPECT_THAT(contents(spool), ElementsAre("1111", "2222"));
    ASSERT_TRUE(spool.append("3333333"));  // 15 of 10
    EXPECT_THAT(contents(spool), ElementsAre("3333333"));
    EXPECT_EQ(spool.facts().dropped_count, 3U);
    EXPECT_FALSE(spool.remove(first));
    EXPECT_FALSE(spool.append(std::string(11, 'x')));
    EXPECT_EQ(spool.facts().dropped_count, 4U);
    EXPECT_THAT(contents(spool), ElementsAre("3333333"));
}

TEST(Spool, FindsAgainWhatAnotherProcessLeft) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "spool";
    for (const char* text : {"one", "two"}) ASSERT_TRUE(Spool(path, 100).append(text));
    std::ofstream(path + "/unfinished") << "half";
    std::ofstream(path + "/readme.txt") << "not ours";
    Spool spool(path, 100);
    EXPECT_THAT(contents(spool), ElementsAre("one", "two"));
    ASSERT_TRUE(spool.append("three"));
    EXPECT_THAT(contents(spool), ElementsAre("one", "two", "three"));
    const Spool smaller(path, 8);
    EXPECT_THAT(contents(smaller), ElementsAre("two", "three"));
    EXPECT_EQ(smaller.facts().dropped_count, 1U);
}

TEST(Spool, HasOnlyWholeThingsAfterItsProcessWasKilled) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "spool";
    constexpr std::size_t kSize = 300'000;
    int pipe_ends[2] = {};
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        Spool spool(path, 1ULL << 40);
        for (char c = 'a';; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
            if (!spool.append(std::string(kSize, c))) ::_exit(1);
            if (::write(pipe_ends[1], "", 1) != 1) ::_exit(1);
        }
    }
    char byte = 0;
    for (int i = 0; i < 20; ++i) ASSERT_EQ(::read(pipe_ends[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    const Spool spool(path, 1ULL << 40);
    const auto found = contents(spool);
    ASSERT_GE(found.size(), 20U);
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i], std::string(kSize, static_cast<char>('a' + i % 26))) << i;
    }
}

TEST(Spool, CountsWhatCannotBeWritten) {
    const test::TemporaryDirectory directory;
    std::ofstream(directory / "file") << "no directory";
    Spool spool((directory / "file").string() + "/spool", 100);
    EXPECT_FALSE(spool.append("one"));
    EXPECT_EQ(spool.facts().dropped_count, 1U);
    EXPECT_EQ(spool.facts().count, 0U);
}

}  // namespace
}  // namespace bobbin::push
