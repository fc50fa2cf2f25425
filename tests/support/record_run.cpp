// SPDX-License-Identifier: Apache-2.0
#include "support/record_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "bobbin/bpf_abi.h"
#include "support/profile_readers.h"

namespace bobbin::test {
namespace {

constexpr std::string_view kTickOutcomeNames[] = {
#define X(enumerator, name, text) name,
    BOBBIN_TICK_OUTCOMES(X)
#undef X
};

}  // namespace

std::string program_path() { return BOBBIN_PROGRAM; }

std::string fixture_path(const std::string& name) {
    return std::string(BOBBIN_FIXTURES_DIR) + "/" + name;
}

std::string comm_of(const std::string& program) {
    return program.substr(program.rfind('/') + 1).substr(0, abi::COMM_BYTES - 1);
}

std::map<std::string, std::uint64_t> accounting_of(const ProfileText& profile) {
    constexpr std::string_view kHead = "accounting: ";
    std::map<std::string, std::uint64_t> counters;
    for (const std::string& comment : profile.comments) {
        if (!comment.starts_with(kHead)) continue;
        std::istringstream words(comment.substr(kHead.size()));
        for (std::string word; words >> word;) {
            const std::size_t equals = std::min(word.find('='), word.size() - 1);
            counters[word.substr(0, equals)] = std::stoull(word.substr(equals + 1));
        }
    }
    EXPECT_FALSE(counters.empty()) << "the profile has no comment that begins with " << kHead;
    return counters;
}

void expect_every_tick_accounted_for(const ProfileText& profile) {
    std::map<std::string, std::uint64_t> counters = accounting_of(profile);
    std::uint64_t outcomes = 0;
    for (const std::string_view name : kTickOutcomeNames) {
        EXPECT_TRUE(counters.contains(std::string(name))) << "no counter " << name;
        outcomes += counters[std::string(name)];
    }
    EXPECT_TRUE(counters.contains("ticks"));
    EXPECT_EQ(counters["ticks"], outcomes) << "ticks are the sum of their outcomes";
    EXPECT_EQ(counters["emitted"], profile.sample_count()) << "every sample sent is in the profile";
}

RecordedRun recorded_by(const std::vector<std::string>& command,
                        const std::filesystem::path& output) {
    RecordedRun run;
    run.process = run_process(command);
    EXPECT_EQ(run.process.exit_status, 0) << run.process.standard_error;
    if (!std::filesystem::exists(output)) {
        ADD_FAILURE() << "no profile; standard error:\n" << run.process.standard_error;
        return run;
    }
    run.profile = read_pprof(output);
    expect_every_tick_accounted_for(run.profile);
    return run;
}

RecordedRun record(const TemporaryDirectory& directory, const std::vector<std::string>& options,
                   const std::vector<std::string>& command) {
    const std::filesystem::path output = directory / "profile.pb.gz";
    std::vector<std::string> arguments{program_path(), "record"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"-o", output.string()});
    if (!command.empty()) arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.begin(), command.end());
    return recorded_by(arguments, output);
}

}  // namespace bobbin::test
