// SPDX-License-Identifier: Apache-2.0
#include "kernel/service_daemon.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <string_view>

#include "bobbin/bpf_abi.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

constexpr std::string_view kUsual = R"([profile]
frequency = 199
[budget]
cpu_percent = 100
)";

std::vector<std::string> command_of(const TemporaryDirectory& directory) {
    // What it logs goes where wait_for_output() reads.
    return {"/bin/sh", "-c", "exec \"$0\" daemon --config \"$1\" 2>&1", program_path(),
            (directory / "bobbin.toml").string()};
}

}  // namespace

void ServiceDaemon::write_config(const TemporaryDirectory& directory, const std::string& more) {
    const std::filesystem::path written = directory / "bobbin.toml.new";
    std::ofstream(written) << "[store]\npath = \"" << (directory / "store").string()
                           << "\"\nsegment = \"2s\"\n[http]\nlisten = \"unix:"
                           << (directory / "socket").string() << "\"\n"
                           << (more.empty() ? kUsual : std::string_view(more));
    std::filesystem::rename(written, directory / "bobbin.toml");
}

ServiceDaemon::ServiceDaemon(const TemporaryDirectory& directory, const std::string& more,
                             const std::vector<std::pair<std::string, std::string>>& environment)
    : directory_(directory),
      process_((write_config(directory, more), command_of(directory)), environment) {}

bool ServiceDaemon::wait_for_segments(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
    while (segment_files(directory_).size() < count) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::poll(nullptr, 0, 50);
    }
    return true;
}

std::vector<std::filesystem::path> segment_files(const TemporaryDirectory& directory) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator
             entry(directory / "store" / "segments", error),
         end;
         !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".zst") files.push_back(entry->path());
    }
    std::ranges::sort(files);
    return files;
}

ProfileText read_segment(const std::filesystem::path& file, const TemporaryDirectory& directory) {
    const std::filesystem::path plain = directory / "segment.pb";
    const auto unpacked = run_process({BOBBIN_ZSTD, "-dqf", file.string(), "-o", plain.string()});
    EXPECT_EQ(unpacked.exit_status, 0) << unpacked.standard_error;
    return read_pprof(plain);
}

std::vector<ProfileText> read_segments(const TemporaryDirectory& directory) {
    std::vector<ProfileText> segments;
    for (const auto& file : segment_files(directory)) {
        segments.push_back(read_segment(file, directory));
    }
    return segments;
}

std::map<std::string, std::uint64_t> accounts_of(const std::vector<ProfileText>& segments) {
    std::map<std::string, std::uint64_t> sums;
    for (const ProfileText& segment : segments) {
        for (const auto& [name, count] : accounting_of(segment)) sums[name] += count;
    }
    return sums;
}

void expect_accounts_agree(const std::vector<ProfileText>& segments) {
    static constexpr std::array<const char*, abi::TICK_OUTCOME_COUNT> kOutcomes = {
#define X(enumerator, name, text) name,
        BOBBIN_TICK_OUTCOMES(X)
#undef X
    };
    auto sums = accounts_of(segments);
    std::uint64_t outcomes = 0;
    for (const char* const outcome : kOutcomes) outcomes += sums[outcome];
    std::uint64_t stored = 0;
    for (const ProfileText& segment : segments) stored += segment.sample_count();
    std::uint64_t ends = 0;
    for (const auto& [name, count] : sums) {
        if (name.starts_with("stack_") && !name.starts_with("stack_copies")) ends += count;
    }
    EXPECT_GT(sums["ticks"], 0U);
    EXPECT_EQ(sums["ticks"], outcomes);
    EXPECT_EQ(sums["emitted"], stored);
    EXPECT_EQ(sums["emitted"], ends);
}

}  // namespace bobbin::test
