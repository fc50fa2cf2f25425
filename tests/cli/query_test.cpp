// SPDX-License-Identifier: Apache-2.0
// `bobbin query` of a store, beside what `go tool pprof` reads in the recording that is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "profile/read_pprof.h"
#include "store/store.h"
#include "support/expected_stacks.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

using store::Store;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr char kProgram[] = "known_chain.gcc.pie";
constexpr gid_t kGroup = 65'534;  // nogroup
constexpr store::Limits kLimits{.retention = std::chrono::hours{24}, .max_bytes = 1'000'000'000};

// What a daemon would have kept of one recording, whose writer is still there.
class Query : public testing::Test {
protected:
    void SetUp() override {
        auto profile = profile::read_pprof(read_whole_file(directory_ / "profile.pb.gz"));
        ASSERT_TRUE(profile.has_value()) << profile.error().message();
        auto opened = Store::open(path_, kLimits);
        ASSERT_TRUE(opened.has_value()) << opened.error().message();
        store_.emplace(std::move(*opened));
        const auto segment = store_->append(*profile);
        ASSERT_TRUE(segment.has_value()) << segment.error().message();
        segment_ = directory_ / "store" / "segments" / segment->file;
    }

    [[nodiscard]] FinishedProcess query(const std::vector<std::string>& options) const {
        std::vector<std::string> arguments{program_path(), "query", "--store", path_};
        arguments.insert(arguments.end(), options.begin(), options.end());
        return run_process(arguments);
    }
    // As somebody without rights who is in one group, by a program that he can get at.
    [[nodiscard]] FinishedProcess as_somebody(const std::string& group,
                                              std::vector<std::string> arguments) const {
        std::vector<std::string> all{"setpriv", "--reuid=65533", "--regid=" + group,
                                     "--clear-groups"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return run_process(all);
    }

    TemporaryDirectory directory_;
    RecordedRun run_ = record(directory_, {"-F", "499"}, {fixture_path(kProgram), "2"});
    std::string path_ = directory_ / "store";
    std::optional<Store> store_;
    std::filesystem::path segment_;
};

TEST_F(Query, GivesBackWhatWasRecorded) {
    const std::string comm = comm_of(kProgram);
    const std::uint64_t expected = run_.profile.sample_count_of(comm);
    ASSERT_GE(expected, 300U);

    const std::filesystem::path unpacked = directory_ / "segment.pprof";
    const auto zstd = run_process({"zstd", "-dcf", segment_, "-o", unpacked});
    ASSERT_EQ(zstd.exit_status, 0) << zstd.standard_error;
    EXPECT_EQ(read_pprof(unpacked).sample_count_of(comm), expected);

    const std::filesystem::path output = directory_ / "query.pb.gz";
    const auto answer = query({"-o", output, "-o", directory_ / "query.html"});
    ASSERT_EQ(answer.exit_status, 0) << answer.standard_error;
    EXPECT_EQ(answer.standard_output, "");
    EXPECT_EQ(read_pprof(output).sample_count_of(comm), expected);
    EXPECT_THAT(read_whole_file(directory_ / "query.html"), HasSubstr("</html>"));

    const auto only = query({"--where", "comm=\"" + comm + "\"", "-o", output});
    ASSERT_EQ(only.exit_status, 0) << only.standard_error;
    const ProfileText filtered = read_pprof(output);
    EXPECT_EQ(filtered.sample_count_of(comm), expected);
    EXPECT_EQ(filtered.sample_count(), expected);
}

TEST_F(Query, PrintsATable) {
    const auto table = query({"--json", "--by", "label:comm", "--where", "comm=~\"known.*\""});
    ASSERT_EQ(table.exit_status, 0) << table.standard_error;
    const auto json = nlohmann::json::parse(table.standard_output);
    ASSERT_EQ(json["rows"].size(), 1U);
    EXPECT_EQ(json["rows"][0]["name"], comm_of(kProgram));
    EXPECT_EQ(json["rows"][0]["total"]["count"], run_.profile.sample_count_of(comm_of(kProgram)));
    const auto text = query({"--top", "1"});
    ASSERT_EQ(text.exit_status, 0) << text.standard_error;
    EXPECT_THAT(text.standard_output, HasSubstr(" more; --top 0 shows all\n"));
}

TEST_F(Query, ComparesTwoRanges) {
    const auto same = query({"--json", "--diff-with", "-2h..now", "-o", directory_ / "diff.html"});
    ASSERT_EQ(same.exit_status, 0) << same.standard_error;
    const auto json = nlohmann::json::parse(same.standard_output);
    EXPECT_EQ(json["samples"], run_.profile.sample_count());
    EXPECT_EQ(json["base_samples"], run_.profile.sample_count());
    ASSERT_FALSE(json["functions"].empty());
    for (const auto& function : json["functions"]) EXPECT_EQ(function["change"], 0.0) << function;
    EXPECT_THAT(read_whole_file(directory_ / "diff.html"), HasSubstr("</html>"));
    const auto nothing = query({"--diff-with", "-25h..-24h"});
    EXPECT_EQ(nothing.exit_status, 1);
    EXPECT_THAT(nothing.standard_error, HasSubstr("nothing was recorded"));
}

TEST_F(Query, ListsWhatIsStored) {
    const auto list = query({"--list", "--json"});
    ASSERT_EQ(list.exit_status, 0) << list.standard_error;
    const auto segments = nlohmann::json::parse(list.standard_output)["segments"];
    ASSERT_EQ(segments.size(), 1U);
    EXPECT_EQ(segments[0]["samples"], run_.profile.sample_count());
    EXPECT_EQ(segments[0]["size_bytes"], std::filesystem::file_size(segment_));
    const auto text = query({"--list"});
    EXPECT_THAT(text.standard_output, HasSubstr("\n1 segments, "));
}

TEST_F(Query, NeedsNoRightButToRead) {
    const std::string program = directory_ / "bobbin";
    std::filesystem::copy_file(program_path(), program);
    ASSERT_EQ(run_process({"chgrp", "-R", std::to_string(kGroup), path_}).exit_status, 0);
    const std::string index = path_ + "/index.db";
    const std::vector<std::string> list{program, "query", "--store", path_, "--list", "--json"};
    const auto segment_count = [&] {
        const auto listed = as_somebody(std::to_string(kGroup), list);
        EXPECT_EQ(listed.exit_status, 0) << listed.standard_error;
        return nlohmann::json::parse(listed.standard_output)["segments"].size();
    };
    // While the writer is there, and when it has left, by the index and not only by the files.
    for (const bool is_writer_there : {true, false}) {
        if (!is_writer_there) store_.reset();
        EXPECT_EQ(segment_count(), 1U);
        const auto rows = as_somebody(std::to_string(kGroup), {"sqlite3", "-readonly", index,
                                                               "SELECT count(*) FROM segment"});
        EXPECT_EQ(rows.standard_output, "1\n") << rows.standard_error;
    }
    const auto stranger = as_somebody("65533", list);
    EXPECT_EQ(stranger.exit_status, 77);
    EXPECT_THAT(stranger.standard_error, HasSubstr("run:  sudo usermod -aG bobbin $USER\n"));
}

TEST(QueryRefuses, WhatItCannotAnswer) {
    const TemporaryDirectory directory;
    const auto run = [&](std::vector<std::string> options) {
        std::vector<std::string> arguments{program_path(), "query", "--store", directory / "store"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        return run_process(arguments);
    };
    const auto none = run({});
    EXPECT_EQ(none.exit_status, 1);
    EXPECT_THAT(none.standard_error,
                MatchesRegex("bobbin: .*No such file.*\n.*nothing there yet\nrun:  sudo .*\n"));

    const std::vector<std::vector<std::string>> mistakes{
        {"--since", "yesterday"},
        {"--since", "now"},
        {"--until", "-2h"},
        {"--where", "comm"},
        {"--diff-with", "now"},
        {"--by", "colour"},
        {"nginx"},
        {"--list", "--by", "cpu"},
        {"-o", "x.txt"},
        {"--diff-with", "-2h..-1h", "-o", "x.pb.gz"},
        {"--diff-with", "-2h..-1h", "--by", "unit"}};
    for (const auto& mistake : mistakes) {
        const auto refused = run(mistake);
        EXPECT_EQ(refused.exit_status, 2) << mistake.front() << ": " << refused.standard_error;
        EXPECT_THAT(refused.standard_error, HasSubstr("run:  bobbin query --help\n"));
    }
}

TEST(QueryRefuses, ARangeOfWhichNothingIsStored) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(Store::open(directory / "store", kLimits).has_value());
    const auto nothing = run_process({program_path(), "query", "--store", directory / "store"});
    EXPECT_EQ(nothing.exit_status, 1);
    EXPECT_THAT(nothing.standard_error, HasSubstr("nothing was recorded"));
}

TEST(QueryFindsTheStore, ThatTheConfigurationNames) {
    const TemporaryDirectory directory;
    const std::string config = directory / "bobbin.toml";
    std::ofstream(config) << "[store]\npath = \"" << (directory / "elsewhere").string() << "\"\n";
    const auto none = run_process({program_path(), "query", "--config", config});
    EXPECT_EQ(none.exit_status, 1);
    EXPECT_THAT(none.standard_error, HasSubstr((directory / "elsewhere").string()));
    std::ofstream(config) << "[stroe]\n";
    const auto wrong = run_process({program_path(), "query", "--config", config});
    EXPECT_EQ(wrong.exit_status, 2);
    EXPECT_THAT(wrong.standard_error, HasSubstr("bobbin.toml:1:"));
}

}  // namespace
}  // namespace bobbin::test
