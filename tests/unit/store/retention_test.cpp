// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/store/minute_profile.h"

namespace bobbin::store {
namespace {

using std::chrono::days;
using std::chrono::hours;
using test::kMorning;

// Segments of an hour, counted in hours from kMorning: [first, end).
struct Hours {
    int first;
    int end;
};

class Recorded {
public:
    explicit Recorded(const std::vector<Hours>& stretches) {
        for (const Hours& stretch : stretches) {
            for (int i = stretch.first; i < stretch.end; ++i) {
                segments_.push_back({kMorning + hours{i}, kMorning + hours{i + 1}});
            }
        }
    }
    // "0-24 100-101": what stays.
    [[nodiscard]] std::string left_at(int clock, hours kept) const {
        return describe(clock, kept, [](const Retention& retention, const Range& segment) {
            return !retention.is_too_old(segment);
        });
    }
    [[nodiscard]] std::string ahead_at(int clock, hours kept) const {
        return describe(clock, kept, [](const Retention& retention, const Range& segment) {
            return retention.is_ahead_of_clock(segment);
        });
    }

private:
    template <class Is>
    [[nodiscard]] std::string describe(int clock, hours kept, Is is) const {
        const Retention retention(segments_, kMorning + hours{clock}, kept);
        std::string text;
        const Range* last = nullptr;
        for (const Range& segment : segments_) {
            if (!is(retention, segment)) continue;
            const auto hour_of = [](Time time) {
                return std::to_string((time - kMorning) / hours{1});
            };
            if (last != nullptr && last->end == segment.begin) {
                text.resize(text.rfind('-') + 1);
                text += hour_of(segment.end);
            } else {
                text +=
                    (text.empty() ? "" : " ") + hour_of(segment.begin) + "-" + hour_of(segment.end);
            }
            last = &segment;
        }
        return text;
    }
    std::vector<Range> segments_;
};

constexpr hours kWeek = days{7};
constexpr int kFuture = 4 * 365 * 24;  // years on

TEST(Retention, CountsFromTheClock) {
    EXPECT_EQ(Recorded({{0, 200}}).left_at(200, kWeek), "32-200");
    EXPECT_EQ(Recorded({{0, 200}}).left_at(200, hours{3}), "197-200");
    EXPECT_EQ(Recorded({}).left_at(200, kWeek), "");
}

// Off over a night: what is as old as that goes.
TEST(Retention, CountsTheTimeThatNothingWasRecorded) {
    EXPECT_EQ(Recorded({{0, 160}, {172, 180}}).left_at(180, kWeek), "12-160 172-180");
}

// Off for a month: it goes when there is a day again.
TEST(Retention, KeepsWhatThereIsUntilADayHasBeenRecordedAgain) {
    EXPECT_EQ(Recorded({{0, 168}, {900, 901}}).left_at(901, kWeek), "0-168 900-901");
    EXPECT_EQ(Recorded({{0, 168}, {900, 923}}).left_at(923, kWeek), "0-168 900-923");
    EXPECT_EQ(Recorded({{0, 168}, {900, 924}}).left_at(924, kWeek), "900-924");
}

TEST(Retention, WaitsForNoMoreThanIsKept) {
    EXPECT_EQ(Recorded({{0, 5}, {100, 102}}).left_at(102, hours{3}), "2-5 100-102");
    EXPECT_EQ(Recorded({{0, 5}, {100, 103}}).left_at(103, hours{3}), "100-103");
}

// The clock was years ahead for some hours, and went back.
TEST(Retention, LosesNothingToAClockThatWasAhead) {
    const Recorded at_first({{0, 100}, {kFuture, kFuture + 5}});
    EXPECT_EQ(at_first.left_at(kFuture + 5, kWeek), "0-100 35040-35045");
    const Recorded behind_it({{0, 101}, {kFuture, kFuture + 5}});
    EXPECT_EQ(behind_it.left_at(101, kWeek), "0-101 35040-35045");
    EXPECT_EQ(behind_it.ahead_at(101, kWeek), "35040-35045");
}

// A week later nobody asks for what was dated wrongly.
TEST(Retention, LetsGoWhatIsAheadWhenAllTheOthersCoverWhatIsKept) {
    EXPECT_EQ(Recorded({{0, 167}, {kFuture, kFuture + 5}}).left_at(167, kWeek),
              "0-167 35040-35045");
    EXPECT_EQ(Recorded({{0, 168}, {kFuture, kFuture + 5}}).left_at(168, kWeek), "0-168");
    // Also what it took more than a day to notice.
    EXPECT_EQ(Recorded({{0, 10}, {kFuture, kFuture + 48}}).left_at(10, kWeek), "0-10 35040-35088");
    EXPECT_EQ(Recorded({{0, 200}, {kFuture, kFuture + 48}}).left_at(200, kWeek), "32-200");
}

// A machine whose clock begins years ago until the network has told it the time.
TEST(Retention, LosesNothingToAClockThatIsBehind) {
    const Recorded behind({{0, 5}, {kFuture, kFuture + 168}});
    EXPECT_EQ(behind.left_at(5, kWeek), "0-5 35040-35208");
    EXPECT_EQ(behind.ahead_at(5, kWeek), "35040-35208");
    // Then it is right again.
    EXPECT_EQ(behind.left_at(kFuture + 168, kWeek), "35040-35208");
    EXPECT_EQ(behind.ahead_at(kFuture + 168, kWeek), "");
}

// Back by two days within what was recorded: that is a stretch, with its end in the future.
TEST(Retention, GoesOnWhereTheClockIsSetBackByDays) {
    EXPECT_EQ(Recorded({{0, 168}}).left_at(120, kWeek), "0-168");
    EXPECT_EQ(Recorded({{0, 168}}).ahead_at(120, kWeek), "");
    EXPECT_EQ(Recorded({{0, 170}}).left_at(120, kWeek), "2-170");
}

}  // namespace
}  // namespace bobbin::store
