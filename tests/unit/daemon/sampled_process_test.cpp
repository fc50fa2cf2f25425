// SPDX-License-Identifier: Apache-2.0
#include "daemon/sampled_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/temporary_directory.h"

namespace bobbin::daemon {
namespace {

TEST(ParseIdentity, TakesTheInnermostPidAndAllUids) {
    const auto identity = parse_identity(
        "Name:\tNSpid: 7\nUmask:\t0022\nPid:\t4711\nUid:\t1000\t1001\t1000\t1002\n"
        "Gid:\t5\t5\t5\t5\nNSpid:\t4711\t33\t1\nThreads:\t1\n");
    ASSERT_TRUE(identity);
    EXPECT_EQ(identity->own_pid, 1);
    EXPECT_THAT(identity->uids, testing::ElementsAre(1000U, 1001U, 1002U));
}

TEST(ParseIdentity, RefusesWhatSaysNeither) {
    EXPECT_FALSE(parse_identity(""));
    EXPECT_FALSE(parse_identity("Uid:\t0\t0\t0\t0\n"));
    EXPECT_FALSE(parse_identity("NSpid:\t4711\n"));
}

// proc(5): the 22nd field; the second may hold anything.
TEST(ParseStartTicks, FindsTheFieldBehindAnyName) {
    EXPECT_EQ(parse_start_ticks("7 (a) b) c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 "
                                "1 2\n"),
              98765U);
    EXPECT_FALSE(parse_start_ticks("7 (a) S 1 7"));
    EXPECT_FALSE(parse_start_ticks(""));
}

TEST(FindJitdumpMapping, TakesTheExecutableMappingOfItsOwnNumber) {
    const std::string maps =
        "5581-5582 r-xp 00000000 fe:01 12 /srv/jit-7.dump.so\n"
        "5582-5583 r--p 00000000 fe:01 13 /srv/jit-7.dump\n"
        "5583-5584 r-xp 00000000 fe:01 14 /srv/jit-6.dump\n"
        "5584-5585 r-xp 00000000 fe:01 15 /srv/of two words/jit-7.dump (deleted)\n"
        "5585-5586 r-xp 00000000 00:00 0 \n";
    EXPECT_EQ(find_jitdump_mapping(maps, 7), "5584-5585");
    EXPECT_EQ(find_jitdump_mapping(maps, 8), "5584-5585") << "the parent's, after a fork";
    EXPECT_EQ(find_jitdump_mapping(maps, 6), "5583-5584");
    EXPECT_EQ(find_jitdump_mapping("", 7), "");
    EXPECT_EQ(find_jitdump_mapping("1-2 r-xp 0 0:0 1 /jit-.dump\n1-2 r-xp 0 0:0 1 /jit-7x.dump\n"
                                   "1-2 r-xp 0 0:0 1 /jit-.dum\n1-2\n1-2 r-xp\n",
                                   7),
              "");
}

// This process itself as the one that was sampled.
class OwnProcess : public testing::Test {
protected:
    OwnProcess() { std::filesystem::remove_all(map_path_); }  // of an earlier one of this number
    ~OwnProcess() override { std::filesystem::remove_all(map_path_); }

    static symbolize::ProcessId id() {
        constexpr std::uint64_t kNanosecondsPerTick = 10'000'000;  // sysconf(_SC_CLK_TCK) is 100
        const auto ticks = parse_start_ticks(test::file_content("/proc/self/stat"));
        EXPECT_TRUE(ticks);
        // Finer than a tick, as the kernel side says it.
        return {.pid = static_cast<std::uint32_t>(::getpid()),
                .start_boot_ns = ticks.value_or(0) * kNanosecondsPerTick + 4321};
    }
    static Result<UniqueFd> open_perf_map() {
        auto process = SampledProcess::open(id());
        EXPECT_TRUE(process) << process.error().message();
        return process->open_perf_map();
    }

    std::string map_path_ = fmt::format("/tmp/perf-{}.map", ::getpid());
};

TEST_F(OwnProcess, HasAPerfMapOfItsOwn) {
    test::put_file(map_path_, "1000 10 name\n");
    const auto file = open_perf_map();
    ASSERT_TRUE(file) << file.error().message();
    char text[4] = {};
    EXPECT_EQ(::pread(file->get(), text, sizeof text, 0), 4);
    EXPECT_EQ(std::string(text, 4), "1000");
}

TEST_F(OwnProcess, MayHaveNone) {
    const auto file = open_perf_map();
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code().value(), ENOENT);
}

TEST_F(OwnProcess, HasNoFifoOpened) {
    ASSERT_EQ(::mkfifo(map_path_.c_str(), 0600), 0);
    const auto file = open_perf_map();
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message(), testing::EndsWith("it is not a regular file"));
}

TEST_F(OwnProcess, HasNoLinkFollowed) {
    const test::TemporaryDirectory directory;
    test::put_file(directory / "other", "1000 10 name\n");
    std::filesystem::create_symlink(directory / "other", map_path_);
    EXPECT_FALSE(open_perf_map());
}

TEST_F(OwnProcess, IsToldFromAnotherWithItsNumber) {
    symbolize::ProcessId other = id();
    other.start_boot_ns += 1'000'000'000;
    const auto process = SampledProcess::open(other);
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().code().value(), ESRCH);
}

}  // namespace
}  // namespace bobbin::daemon
