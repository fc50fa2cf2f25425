// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temporary_directory.h"
#include "unit/store/minute_profile.h"
#include "unit/store/store_oracles.h"

namespace bobbin::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::kMorning;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Limits kNoLimits{.retention = hours{24 * 365}, .max_bytes = 1'000'000'000};

// Minute `i` has i + 1 samples of its own function, and 1 of one that all have.
symbolize::NamedProfile minute(int i) {
    test::MinuteProfile profile(kMorning + minutes{i});
    const auto count = static_cast<std::uint32_t>(i + 1);
    profile.add({"own_" + std::to_string(i), "main"}, test::labels_of(7, "app", "app.service"),
                {{5, count}});
    profile.add({"common", "main"}, test::labels_of(8, "cron"), {{7, 1}});
    return profile.profile;
}

Range minutes_of(int first, int end) {
    return {kMorning + minutes{first}, kMorning + minutes{end}};
}
const Range kAllTime{Time{}, kMorning + hours{24 * 365}};

class StoreTest : public testing::Test {
protected:
    Store open(const Limits& limits = kNoLimits) {
        auto store = Store::open(path_, limits);
        EXPECT_TRUE(store.has_value()) << store.error().message();
        return std::move(store).value();
    }
    static Segment append(Store& store, int i) {
        const auto segment = store.append(minute(i));
        EXPECT_TRUE(segment.has_value()) << segment.error().message();
        return segment.value_or(Segment{});
    }
    [[nodiscard]] symbolize::NamedProfile read(const Range& range, const Where& where = {}) const {
        const auto reader = StoreReader::open(path_);
        EXPECT_TRUE(reader.has_value()) << reader.error().message();
        auto profile = reader->read(range, where);
        EXPECT_TRUE(profile.has_value()) << profile.error().message();
        return profile.value_or(symbolize::NamedProfile{});
    }
    [[nodiscard]] std::vector<Segment> find(const Range& range) const {
        const auto segments = StoreReader::open(path_)->find(range);
        EXPECT_TRUE(segments.has_value()) << segments.error().message();
        return segments.value_or(std::vector<Segment>{});
    }
    [[nodiscard]] std::filesystem::path file(const Segment& segment) const {
        return directory_ / "store" / "segments" / segment.file;
    }
    void expect_index_and_files_agree() const {
        EXPECT_EQ(test::rows_in(path_), test::files_in(path_));
        EXPECT_EQ(test::check_index(path_), "ok\n");
    }

    bobbin::test::TemporaryDirectory directory_;
    std::string path_ = directory_ / "store";
};

TEST_F(StoreTest, KeepsSegmentsUnderTheirTime) {
    Store store = open();
    const Segment segment = append(store, 4);
    EXPECT_EQ(segment.file, "2026-11-22/103400.000.pb.zst");
    EXPECT_EQ(segment.sample_count, 6U);
    EXPECT_EQ(segment.cpu_ns, 6U * 50'000'000);
    EXPECT_EQ(segment.size_bytes, std::filesystem::file_size(file(segment)));
    expect_index_and_files_agree();
    const std::vector<Segment> found = find(kAllTime);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].file, segment.file);
    EXPECT_EQ(found[0].begin, kMorning + minutes{4});
    EXPECT_EQ(found[0].duration, minutes{1});
    EXPECT_EQ(found[0].sample_count, 6U);
    EXPECT_EQ(found[0].cpu_ns, segment.cpu_ns);
}

TEST_F(StoreTest, AddsUpWhatARangeHas) {
    Store store = open();
    for (int i = 0; i < 10; ++i) append(store, i);
    EXPECT_THAT(find(minutes_of(2, 5)), SizeIs(3));
    EXPECT_THAT(find({kMorning + seconds{179}, kMorning + seconds{181}}), SizeIs(2));
    const symbolize::NamedProfile three = read(minutes_of(2, 5));
    EXPECT_EQ(three.sample_count, 3U + 4 + 5 + 3);
    EXPECT_THAT(three.stacks, SizeIs(4));  // three own, and the common one
    EXPECT_EQ(three.started, kMorning + minutes{2});
    EXPECT_EQ(three.duration, minutes{3});
    EXPECT_EQ(three.period, test::MinuteProfile::kPeriod);
    EXPECT_EQ(read(kAllTime).sample_count, 55U + 10);
    // The samples of a minute came at 0.5 s and 0.7 s of it.
    EXPECT_EQ(
        read({kMorning + std::chrono::milliseconds{600}, kMorning + seconds{60}}).sample_count, 1U);
    EXPECT_EQ(read(minutes_of(2, 5), *Where::parse("comm=cron")).sample_count, 3U);
    EXPECT_EQ(read(minutes_of(100, 105)).sample_count, 0U);
}

TEST_F(StoreTest, SaysHowMuchItHas) {
    Store store = open();
    EXPECT_EQ(store.facts()->segment_count, 0U);
    std::uint64_t bytes = 0;
    for (int i = 0; i < 3; ++i) bytes += append(store, i).size_bytes;
    const auto facts = store.facts();
    ASSERT_TRUE(facts.has_value());
    EXPECT_EQ(facts->segment_count, 3U);
    EXPECT_EQ(facts->oldest, kMorning);
    EXPECT_EQ(facts->newest, kMorning + minutes{3});
    for (const char* name : {"index.db", "index.db-wal", "index.db-shm"}) {
        bytes += std::filesystem::file_size(directory_ / "store" / name);
    }
    EXPECT_EQ(facts->bytes, bytes);
}

TEST_F(StoreTest, ShowsCoresOverTime) {
    Store store = open();
    for (int i = 0; i < 2; ++i) append(store, i);
    const auto series =
        StoreReader::open(path_)->series(minutes_of(0, 2), minutes{1}, StoreReader::By::kUnit, 5);
    ASSERT_TRUE(series.has_value());
    ASSERT_THAT(*series, SizeIs(2));
    EXPECT_EQ((*series)[0].name, "app.service");
    EXPECT_THAT((*series)[0].cores,
                ElementsAre(testing::DoubleEq(0.05 / 60), testing::DoubleEq(0.1 / 60)));
}

TEST_F(StoreTest, KeepsTwoThatBeginAtOnce) {
    Store store = open();
    EXPECT_EQ(append(store, 0).file, "2026-11-22/103000.000.pb.zst");
    EXPECT_EQ(append(store, 0).file, "2026-11-22/103000.000-2.pb.zst");
    EXPECT_THAT(find(kAllTime), SizeIs(2));
    EXPECT_EQ(read(kAllTime).sample_count, 4U);
    expect_index_and_files_agree();
}

TEST_F(StoreTest, HasOneWriter) {
    const Store store = open();
    const auto second = Store::open(path_, kNoLimits);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code().value(), EWOULDBLOCK);
}

TEST_F(StoreTest, LetsTheGroupReadAndNobodyElse) {
    {
        Store store = open();
        append(store, 0);
    }
    const auto mode_of = [this](const std::string& name) {
        struct stat status{};
        EXPECT_EQ(::stat((path_ + "/" + name).c_str(), &status), 0) << name;
        return status.st_mode & 07777;
    };
    EXPECT_EQ(mode_of(""), 0750U);
    EXPECT_EQ(mode_of("segments"), 0750U);
    EXPECT_EQ(mode_of("segments/2026-11-22"), 0750U);
    EXPECT_EQ(mode_of("segments/2026-11-22/103000.000.pb.zst"), 0640U);
    // Readers need the last two, and may not make them.
    for (const char* name : {"index.db", "index.db-wal", "index.db-shm"}) {
        EXPECT_EQ(mode_of(name), 0640U) << name;
    }
}

TEST_F(StoreTest, LetsTheOldestGoByAge) {
    Store store = open({.retention = minutes{3}, .max_bytes = 1'000'000'000});
    for (int i = 0; i < 10; ++i) append(store, i);
    // At minute 10 those that ended at minute 7 or before are too old.
    const std::vector<Segment> left = find(kAllTime);
    ASSERT_THAT(left, SizeIs(3));
    EXPECT_EQ(left[0].begin, kMorning + minutes{7});
    expect_index_and_files_agree();
    ASSERT_TRUE(store.set_limits({.retention = minutes{1}, .max_bytes = 1'000'000'000}));
    EXPECT_THAT(find(kAllTime), SizeIs(1));
    append(store, 60 * 24);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "store" / "segments" / "2026-11-22"));
}

TEST_F(StoreTest, LetsTheOldestGoBySize) {
    constexpr std::uint64_t kMaxBytes = 500'000;
    constexpr int kSegments = 300;
    Store store = open({.retention = hours{24 * 365}, .max_bytes = kMaxBytes});
    for (int i = 0; i < kSegments; ++i) {
        append(store, i);
        ASSERT_LE(store.facts()->bytes, kMaxBytes) << i;
    }
    EXPECT_LE(store.facts()->bytes, kMaxBytes);
    const std::vector<Segment> left = find(kAllTime);
    ASSERT_FALSE(left.empty());
    ASSERT_LT(left.size(), std::size_t{kSegments});
    // Those that are left are the newest, without a gap.
    EXPECT_EQ(left.front().begin, kMorning + minutes{kSegments - static_cast<int>(left.size())});
    EXPECT_EQ(left.back().begin, kMorning + minutes{kSegments - 1});
    expect_index_and_files_agree();
}

// A clock that was years ahead for a minute, also seen by a process that begins then.
TEST_F(StoreTest, LosesNothingToAClockThatWasAhead) {
    constexpr int kYearsOn = 4 * 365 * 24 * 60;
    {
        Store store = open({.retention = hours{24 * 7}, .max_bytes = 1'000'000'000});
        for (int i = 0; i < 3; ++i) append(store, i);
        append(store, kYearsOn);
    }
    Store store = open({.retention = hours{24 * 7}, .max_bytes = 1'000'000'000});
    EXPECT_THAT(find(minutes_of(0, kYearsOn + 1)), SizeIs(4));
    append(store, 3);
    EXPECT_THAT(find(minutes_of(0, kYearsOn + 1)), SizeIs(5));
    // Where something has to go, it is that. A segment has more than 100 bytes.
    for (std::uint64_t most = 1'000'000; find(minutes_of(0, kYearsOn + 1)).size() == 5;
         most -= 100) {
        ASSERT_TRUE(store.set_limits({.retention = hours{24 * 7}, .max_bytes = most}));
    }
    const std::vector<Segment> left = find(minutes_of(0, kYearsOn + 1));
    ASSERT_THAT(left, SizeIs(4));
    EXPECT_EQ(left.back().begin, kMorning + minutes{3});
}

TEST_F(StoreTest, KeepsTheNewestHoweverLittleItMayHave) {
    Store store = open({.retention = seconds{1}, .max_bytes = 1});
    append(store, 0);
    append(store, 1);
    ASSERT_THAT(find(kAllTime), SizeIs(1));
    EXPECT_EQ(find(kAllTime)[0].begin, kMorning + minutes{1});
}

TEST_F(StoreTest, NamesASegmentThatIsDamagedAndReadsTheOthers) {
    Store store = open();
    for (int i = 0; i < 3; ++i) append(store, i);
    const std::filesystem::path middle = file(find(kAllTime)[1]);
    std::filesystem::resize_file(middle, std::filesystem::file_size(middle) - 1);
    const symbolize::NamedProfile rest = read(kAllTime);
    EXPECT_EQ(rest.sample_count, 2U + 4);
    ASSERT_THAT(rest.comments, SizeIs(1));
    EXPECT_THAT(rest.comments[0], HasSubstr("not read: 2026-11-22/103100.000.pb.zst: damaged"));
}

TEST_F(StoreTest, LeavesOutASegmentThatLeavesMeanwhile) {
    Store store = open();
    for (int i = 0; i < 3; ++i) append(store, i);
    std::filesystem::remove(file(find(kAllTime)[0]));
    const symbolize::NamedProfile rest = read(kAllTime);
    EXPECT_EQ(rest.sample_count, 3U + 4);
    EXPECT_THAT(rest.comments, IsEmpty());
}

TEST_F(StoreTest, BringsTheIndexToWhatTheFilesSay) {
    std::vector<Segment> all;
    {
        Store store = open();
        for (int i = 0; i < 5; ++i) all.push_back(append(store, i));
    }
    std::filesystem::remove(file(all[0]));                    // a row without a file
    std::filesystem::resize_file(file(all[1]), 10);           // a head that is damaged
    std::ofstream(file(all[2]).parent_path() / "notes.txt");  // nobody's business
    std::ofstream(directory_ / "store" / "segment.new") << "half";
    std::filesystem::copy_file(file(all[3]), file(all[3]).parent_path() / "235900.000.pb.zst");
    Store store = open();
    std::filesystem::remove(file(all[2]).parent_path() / "notes.txt");
    expect_index_and_files_agree();
    EXPECT_FALSE(std::filesystem::exists(directory_ / "store" / "segment.new"));
    EXPECT_EQ(store.facts()->segment_count, 5U);
    // Without its head it has its name's time, so that it will be old one day.
    EXPECT_THAT(find(minutes_of(1, 2)), SizeIs(1));
}

TEST_F(StoreTest, MakesAnIndexAgainThatIsDamaged) {
    {
        Store store = open();
        for (int i = 0; i < 5; ++i) append(store, i);
    }
    const std::filesystem::path index = directory_ / "store" / "index.db";
    const auto damages = {
        +[](const std::filesystem::path& file) { std::filesystem::remove(file); },
        +[](const std::filesystem::path& file) { std::filesystem::resize_file(file, 5'000); },
        +[](const std::filesystem::path& file) { std::ofstream(file) << std::string(8'192, 'x'); },
        +[](const std::filesystem::path& file) {
            std::fstream stream(file);
            stream.seekp(4'096) << std::string(8'192, 'x');
        },
    };
    for (const auto damage : damages) {
        damage(index);
        // A reader beside it does without.
        EXPECT_EQ(read(kAllTime).sample_count, 15U + 5);
        const Store store = open();
        expect_index_and_files_agree();
        EXPECT_EQ(store.facts()->segment_count, 5U);
        EXPECT_EQ(read(kAllTime).sample_count, 15U + 5);
    }
}

TEST_F(StoreTest, GoesOnWhereItsIndexIsLocked) {
    Store store = open();
    append(store, 0);
    {
        sqlite3* other = nullptr;
        ASSERT_EQ(sqlite3_open((path_ + "/index.db").c_str(), &other), SQLITE_OK);
        ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
        append(store, 1);
        append(store, 2);  // begins a new index, because of the lock on the old one
        sqlite3_close(other);
    }
    append(store, 3);
    expect_index_and_files_agree();
    EXPECT_EQ(read(kAllTime).sample_count, 10U + 4);
}

TEST_F(StoreTest, SaysThatThereIsNone) {
    const auto reader = StoreReader::open(directory_ / "nothing");
    ASSERT_FALSE(reader.has_value());
    EXPECT_EQ(reader.error().code().value(), ENOENT);
}

}  // namespace
}  // namespace bobbin::store
