// SPDX-License-Identifier: Apache-2.0
// Charts by the sums that are kept of each segment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "store/segment_file.h"
#include "store/store.h"
#include "support/temporary_directory.h"
#include "unit/store/minute_profile.h"
#include "unit/store/store_oracles.h"

namespace bobbin::store {
namespace {

using By = StoreReader::By;
using std::chrono::minutes;
using std::chrono::seconds;
using test::kMorning;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::SizeIs;

constexpr Limits kNoLimits{.retention = std::chrono::days{365}, .max_bytes = 1'000'000'000};
constexpr int kMinutes = 20;

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class StoreSeriesTest : public testing::Test {
protected:
    // Of minute i app.service has i + 1 samples of 50 ms at its begin and one at its end.
    StoreSeriesTest() {
        Store store = open();
        for (int i = 0; i < kMinutes; ++i) {
            test::MinuteProfile profile(kMorning + minutes{i});
            const auto count = static_cast<std::uint32_t>(i + 1);
            profile.add({"work"}, test::labels_of(7, "app", "app.service"), {{5, count}, {598, 1}});
            profile.add({"tick"}, test::labels_of(8, "cron"), {{7, 1}});
            EXPECT_TRUE(store.append(profile.profile));
        }
    }
    [[nodiscard]] Store open() const {
        auto store = Store::open(path_, kNoLimits);
        EXPECT_TRUE(store.has_value()) << store.error().message();
        return std::move(store).value();
    }
    [[nodiscard]] std::vector<StoreReader::Series> series(const Range& range, seconds step,
                                                          By by = By::kUnit) const {
        const auto series = StoreReader::open(path_)->series(range, step, by, 5);
        EXPECT_TRUE(series.has_value()) << series.error().message();
        return series.value_or(std::vector<StoreReader::Series>{});
    }
    // Of 10 minutes each: 1 + 2 + ... + 10, 11 + ... + 20, 10 at the ends of minutes, 10 of cron.
    void expect_the_chart() const {
        const auto units = series({kMorning, kMorning + minutes{kMinutes}}, minutes{10});
        ASSERT_THAT(units, SizeIs(2));
        EXPECT_EQ(units[0].name, "app.service");
        EXPECT_THAT(units[0].cores, ElementsAre(DoubleNear((55 + 10) * 0.05 / 600, 1e-9),
                                                DoubleNear((155 + 10) * 0.05 / 600, 1e-9)));
        EXPECT_EQ(units[1].name, "");
        EXPECT_THAT(units[1].cores, ElementsAre(DoubleNear(10 * 0.05 / 600, 1e-9),
                                                DoubleNear(10 * 0.05 / 600, 1e-9)));
        const auto all = series({kMorning, kMorning + minutes{kMinutes}}, minutes{20}, By::kAll);
        ASSERT_THAT(all, SizeIs(1));
        EXPECT_THAT(all[0].cores, ElementsAre(DoubleNear((210 + 20 + 20) * 0.05 / 1200, 1e-9)));
    }
    [[nodiscard]] std::vector<std::filesystem::path> files() const {
        std::vector<std::filesystem::path> files;
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(path_ + "/segments")) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
        return files;
    }
    void remove_profiles() const {
        for (const auto& file : files()) {
            std::filesystem::resize_file(file, front_bytes_of(contents(file)));
        }
    }
    // As files were before there were sums.
    void remove_sums() const {
        for (const auto& file : files()) {
            const std::string whole = contents(file);
            std::ofstream(file, std::ios::binary)
                << whole.substr(0, kSegmentHeadBytes) << whole.substr(front_bytes_of(whole));
        }
    }
    [[nodiscard]] std::string sums_in_index() const {
        return test::output_of(
            "sqlite3 -readonly " + path_ +
            "/index.db 'SELECT count(*) FROM cpu_sums JOIN segment ON segment = id'");
    }

    bobbin::test::TemporaryDirectory directory_;
    std::string path_ = directory_ / "store";
};

TEST_F(StoreSeriesTest, OpensNoSegment) {
    expect_the_chart();
    remove_profiles();
    expect_the_chart();
    EXPECT_EQ(StoreReader::open(path_)->read({kMorning, kMorning + minutes{5}}, {})->sample_count,
              0U);
}

TEST_F(StoreSeriesTest, OpensNoSegmentWhereThereIsNoIndexEither) {
    remove_profiles();
    std::filesystem::remove(path_ + "/index.db");
    expect_the_chart();
}

TEST_F(StoreSeriesTest, OpensThoseWithoutSums) {
    remove_sums();
    std::filesystem::remove(path_ + "/index.db");
    expect_the_chart();
    const Store store = open();
    EXPECT_EQ(sums_in_index(), "0\n");
    expect_the_chart();
}

// An index of the first version, and a reader beside it, who may not change it.
TEST_F(StoreSeriesTest, TakesAnOldIndexForNone) {
    remove_sums();
    std::filesystem::remove(path_ + "/index.db");
    test::output_of(
        "sqlite3 " + path_ +
        "/index.db 'CREATE TABLE segment(id INTEGER PRIMARY KEY, file TEXT NOT NULL "
        "UNIQUE, begin_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, sample_count "
        "INTEGER NOT NULL, cpu_ns INTEGER NOT NULL, size_bytes INTEGER NOT NULL) STRICT; "
        "PRAGMA user_version = 1;'");
    expect_the_chart();
    const Store store = open();
    EXPECT_EQ(test::rows_in(path_), test::files_in(path_));
    expect_the_chart();
}

TEST_F(StoreSeriesTest, MakesTheSumsOfALostIndexAgain) {
    std::filesystem::remove(path_ + "/index.db");
    const Store store = open();
    EXPECT_EQ(sums_in_index(), std::to_string(kMinutes) + "\n");
    remove_profiles();
    expect_the_chart();
}

TEST_F(StoreSeriesTest, LosesTheSumsWithTheirSegment) {
    Store store = open();
    test::MinuteProfile profile(kMorning + minutes{kMinutes});
    ASSERT_TRUE(store.append(profile.profile));
    ASSERT_TRUE(store.set_limits({.retention = minutes{2}, .max_bytes = 1'000'000'000}));
    EXPECT_EQ(sums_in_index(), "2\n");
    EXPECT_EQ(
        test::output_of("sqlite3 -readonly " + path_ + "/index.db 'SELECT count(*) FROM cpu_sums'"),
        "2\n");
}

// Steps of a second, and a range whose ends lie within segments: minute 3 from 30 s on has one
// sample, at 59.8 s, minute 4 up to 30 s five.
TEST_F(StoreSeriesTest, OpensWhatTheSumsDoNotTell) {
    const Range range{kMorning + seconds{210}, kMorning + seconds{270}};
    const auto exact = series(range, seconds{1});
    ASSERT_THAT(exact, SizeIs(2));
    ASSERT_THAT(exact[0].cores, SizeIs(60));
    EXPECT_NEAR(exact[0].cores[29], 0.05, 1e-9);
    EXPECT_NEAR(exact[0].cores[30], 5 * 0.05, 1e-9);
    const auto coarse = series(range, seconds{30});
    ASSERT_THAT(coarse, SizeIs(2));
    EXPECT_THAT(coarse[0].cores,
                ElementsAre(DoubleNear(0.05 / 30, 1e-9), DoubleNear(5 * 0.05 / 30, 1e-9)));
}

// What is removed gives its room back, or an index would press segments out.
TEST_F(StoreSeriesTest, BecomesSmallerWithItsSegments) {
    const std::filesystem::path index = path_ + "/index.db";
    Store store = open();
    for (int i = kMinutes; i < 330; ++i) {
        test::MinuteProfile profile(kMorning + minutes{i});
        for (std::uint32_t owner = 0; owner < 60; ++owner) {
            profile.add({"work"}, test::labels_of(owner, "p" + std::to_string(owner * 7919 + i)),
                        {{owner, 1 + owner % 7}});
        }
        ASSERT_TRUE(store.append(profile.profile));
    }
    const auto large = std::filesystem::file_size(index);
    // A quarter of a megabyte for its log, and so much that about a third of the segments stay.
    const std::uint64_t most = 330'000 + 33'000 + (store.facts()->bytes - 300'000) / 3;
    ASSERT_TRUE(store.set_limits({.retention = std::chrono::days{365}, .max_bytes = most}));
    EXPECT_LE(store.facts()->bytes, most);
    EXPECT_LT(std::filesystem::file_size(index), large * 2 / 3);
    EXPECT_GT(store.facts()->segment_count, 40U);
}

}  // namespace
}  // namespace bobbin::store
