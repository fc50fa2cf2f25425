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

void ServiceDaemon::write_config(const TemporaryDirectory& directory, const ServiceConfig& config) {
    const std::filesystem::path written = directory / "bobbin.toml.new";
    std::ofstream(written) << "[store]\npath = \"" << (directory / config.store).string()
                           << "\"\nsegment = \"" << config.segment
                           << "\"\n[http]\nlisten = \"unix:" << (directory / "socket").string()
                           << "\"\n"
                           << (config.more.empty() ? kUsual : std::string_view(config.more));
    std::filesystem::rename(written, directory / "bobbin.toml");
}

ServiceDaemon::ServiceDaemon(const TemporaryDirectory& directory, const ServiceConfig& config,
                             const std::vector<std::pair<std::string, std::string>>& environment)
    : directory_(directory),
      process_((write_config(directory, config), command_of(directory)), environment) {}

bool ServiceDaemon::wait_for_segments(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
    while (segment_files(directory_).size() < count) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::poll(nullptr, 0, 50);
    }
    return true;
}

bool ServiceDaemon::wait_for_segment(const std::function<bool(const ProfileText&)>& is_so) {
    for (std::size_t next = segment_files(directory_).size(); wait_for_segments(next + 1); ++next) {
        if (is_so(read_segment(segment_files(directory_).at(next), directory_))) return true;
    }
    return false;
}

FinishedProcess ctl(const TemporaryDirectory& directory, std::vector<std::string> words) {
    words.insert(words.begin(), {program_path(), "ctl"});
    words.insert(words.end(), {"--config", (directory / "bobbin.toml").string()});
    return run_process(words);
}

std::vector<std::filesystem::path> segment_files(const TemporaryDirectory& directory,
                                                 const std::string& store) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator entry(directory / store / "segments", error),
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

std::vector<ProfileText> read_segments(const std::vector<std::filesystem::path>& files,
                                       const TemporaryDirectory& directory) {
    std::vector<ProfileText> segments;
    for (const auto& file : files) segments.push_back(read_segment(file, directory));
    return segments;
}

std::vector<ProfileText> read_segments(const TemporaryDirectory& directory) {
    return read_segments(segment_files(directory), directory);
}

std::uint64_t sample_count_of(const std::vector<ProfileText>& segments) {
    std::uint64_t count = 0;
    for (const ProfileText& segment : segments) count += segment.sample_count();
    return count;
}

std::map<std::string, std::uint64_t> accounts_of(const std::vector<ProfileText>& segments) {
    std::map<std::string, std::uint64_t> sums;
    for (const ProfileText& segment : segments) {
        for (const auto& [name, count] : accounting_of(segment)) sums[name] += count;
    }
    return sums;
}

void expect_ticks_add_up(const std::vector<ProfileText>& segments) {
    static constexpr std::array<const char*, abi::TICK_OUTCOME_COUNT> kOutcomes = {
#define X(enumerator, name, text) name,
        BOBBIN_TICK_OUTCOMES(X)
#undef X
    };
    auto sums = accounts_of(segments);
    std::uint64_t outcomes = 0;
    for (const char* const outcome : kOutcomes) outcomes += sums[outcome];
    EXPECT_GT(sums["ticks"], 0U);
    EXPECT_EQ(sums["ticks"], outcomes);
}

void expect_accounts_agree(const std::vector<ProfileText>& segments) {
    expect_ticks_add_up(segments);
    auto sums = accounts_of(segments);
    std::uint64_t ends = 0;
    for (const auto& [name, count] : sums) {
        if (name.starts_with("stack_") && !name.starts_with("stack_copies")) ends += count;
    }
    EXPECT_EQ(sums["emitted"], sample_count_of(segments));
    EXPECT_EQ(sums["emitted"], ends);
}

}  // namespace bobbin::test
