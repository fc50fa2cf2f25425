// SPDX-License-Identifier: Apache-2.0
#include "daemon/code_map_keeper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "daemon/sampled_process.h"
#include "support/temporary_directory.h"

namespace bobbin::daemon {
namespace {

// Reached only by a hang.
constexpr std::chrono::seconds kGenerousTimeout{120};

// A child that writes its perf map when it is told to end, as HotSpot does, and then ends.
class ChildWithMap {
public:
    ChildWithMap() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe(ends.data()), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            char byte = 0;
            const std::string path = fmt::format("/tmp/perf-{}.map", ::getpid());
            (void)::read(ends[0], &byte, 1);
            test::put_file(path, "1000 10 name\n");
            ::_exit(0);
        }
        end_ = UniqueFd(ends[1]);
        UniqueFd(ends[0]).reset();
    }
    ~ChildWithMap() {
        end();
        std::filesystem::remove(fmt::format("/tmp/perf-{}.map", pid_));
    }

    [[nodiscard]] symbolize::ProcessId id() const {
        constexpr std::uint64_t kNanosecondsPerTick = 10'000'000;
        const auto ticks =
            parse_start_ticks(test::file_content(fmt::format("/proc/{}/stat", pid_)));
        EXPECT_TRUE(ticks);
        return {.pid = static_cast<std::uint32_t>(pid_),
                .start_boot_ns = ticks.value_or(0) * kNanosecondsPerTick};
    }
    // Until it is gone, and with it /proc/PID.
    void end() {
        if (!end_.is_open()) return;
        EXPECT_EQ(::write(end_.get(), "x", 1), 1);
        end_.reset();
        EXPECT_EQ(::waitpid(pid_, nullptr, 0), pid_);
    }

private:
    pid_t pid_ = -1;
    UniqueFd end_;
};

void notice(CodeMapKeeper& keeper, const symbolize::ProcessId& process, abi::frame_word frame) {
    abi::sample_header header{};
    header.pid = process.pid;
    header.process_start_boot_ns = process.start_boot_ns;
    keeper.notice({.header = &header,
                   .kernel_frames = {},
                   .user_frames = std::span(&frame, 1),
                   .paused_walk = {}});
}

bool waits_until_found(CodeMapKeeper& keeper, const symbolize::ProcessId& process) {
    const auto deadline = CodeMapKeeper::Clock::now() + kGenerousTimeout;
    while (!keeper.find(process).perf_map) {
        if (CodeMapKeeper::Clock::now() > deadline) return false;
        keeper.look_again(deadline);
    }
    return true;
}

TEST(CodeMapKeeper, FindsWhatAProcessWritesWhenItEnds) {
    ChildWithMap child;
    CodeMapKeeper keeper;
    const auto id = child.id();
    notice(keeper, id, FRAME_IS_ANONYMOUS | 0x1000);
    keeper.look_again(CodeMapKeeper::Clock::now() + kGenerousTimeout);
    EXPECT_FALSE(keeper.find(id).has_any());
    child.end();
    EXPECT_TRUE(waits_until_found(keeper, id));
}

TEST(CodeMapKeeper, HoldsAFileThatIsDeleted) {
    const std::string path = fmt::format("/tmp/perf-{}.map", ::getpid());
    test::put_file(path, "1000 10 name\n");
    CodeMapKeeper keeper;
    const auto ticks = parse_start_ticks(test::file_content("/proc/self/stat"));
    const symbolize::ProcessId self{.pid = static_cast<std::uint32_t>(::getpid()),
                                    .start_boot_ns = ticks.value_or(0) * 10'000'000};
    notice(keeper, self, FRAME_IS_ANONYMOUS | 0x1000);
    EXPECT_TRUE(waits_until_found(keeper, self));
    std::filesystem::remove(path);
    keeper.look_again(CodeMapKeeper::Clock::now() + kGenerousTimeout);
    const auto maps = keeper.find(self);
    ASSERT_TRUE(maps.perf_map);
    char text[4] = {};
    EXPECT_EQ(::pread(maps.perf_map->get(), text, sizeof text, 0), 4);
}

TEST(CodeMapKeeper, LooksAtNoProcessWithoutGeneratedCode) {
    ChildWithMap child;
    CodeMapKeeper keeper;
    const auto id = child.id();
    notice(keeper, id, 0x1000);
    child.end();
    keeper.look_again(CodeMapKeeper::Clock::now() + kGenerousTimeout);
    EXPECT_FALSE(keeper.find(id).has_any());
}

TEST(CodeMapKeeper, CountsProcessesThatWereGone) {
    symbolize::ProcessId id;
    {
        ChildWithMap child;
        id = child.id();
    }
    CodeMapKeeper keeper;
    notice(keeper, id, FRAME_IS_ANONYMOUS | 0x1000);
    keeper.look_again(CodeMapKeeper::Clock::now() + kGenerousTimeout);
    EXPECT_EQ(keeper.counts().gone, 1U);
}

}  // namespace
}  // namespace bobbin::daemon
