// SPDX-License-Identifier: Apache-2.0
#include "store/cpu_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "store/cpu_series.h"
#include "unit/store/minute_profile.h"

namespace bobbin::store {
namespace {

using By = StoreReader::By;
using std::chrono::minutes;
using std::chrono::seconds;
using test::kMorning;
using test::labels_of;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint64_t kSampleUs = 50'000;

// Spans are of 100 ms: 49 is the last before 5 s.
symbolize::NamedProfile some_minute() {
    test::MinuteProfile minute;
    minute.add({"work"}, labels_of(7, "app", "app.service"), {{0, 20}, {49, 10}, {50, 10}});
    minute.add({"idle"}, labels_of(8, "cron", "cron.service"), {{599, 2}});
    minute.add({"more"}, labels_of(7, "app", "app.service"), {{599, 1}});
    minute.add({"main"}, labels_of(9, "bash"), {{300, 1}});
    return minute.profile;
}

TEST(CpuSums, AddUpByOwnerAndStep) {
    const CpuSums sums = sum_cpu(some_minute());
    EXPECT_EQ(sums.begin, kMorning);
    EXPECT_EQ(sums.step, seconds{5});
    ASSERT_EQ(sums.step_count, 12U);
    ASSERT_THAT(sums.units, SizeIs(3));
    EXPECT_EQ(sums.units[0].name, "app.service");
    EXPECT_EQ(sums.units[0].cpu_us.at(0), 30 * kSampleUs);
    EXPECT_EQ(sums.units[0].cpu_us.at(1), 10 * kSampleUs);
    EXPECT_EQ(sums.units[0].cpu_us.at(11), 1 * kSampleUs);
    EXPECT_EQ(sums.units[1].name, "cron.service");
    EXPECT_EQ(sums.units[1].cpu_us.at(11), 2 * kSampleUs);
    EXPECT_EQ(sums.units[2].name, "");
    EXPECT_EQ(sums.units[2].cpu_us.at(6), 1 * kSampleUs);
    ASSERT_THAT(sums.processes, SizeIs(3));
    EXPECT_EQ(sums.processes[2].name, "bash");
}

TEST(CpuSums, BeginAtMultiplesOfTheirStep) {
    symbolize::NamedProfile minute = some_minute();
    minute.started += std::chrono::milliseconds{2'003};
    const CpuSums sums = sum_cpu(minute);
    EXPECT_EQ(sums.begin, kMorning);
    // The last span ends at 62.003 s.
    EXPECT_EQ(sums.end(), kMorning + seconds{65});
    // Span 49 is from 6.903 s on.
    EXPECT_EQ(sums.units.at(0).cpu_us.at(0), 20 * kSampleUs);
    EXPECT_EQ(sums.units.at(0).cpu_us.at(1), 20 * kSampleUs);
}

TEST(CpuSums, HaveLongerStepsInLongerSegments) {
    symbolize::NamedProfile profile = some_minute();
    for (const auto& [length, step] : std::vector<std::pair<minutes, seconds>>{
             {minutes{5}, seconds{5}}, {minutes{6}, minutes{1}}, {minutes{60}, minutes{1}}}) {
        profile.duration = length;
        // One at its end.
        profile.stacks[0].times.back().bucket =
            static_cast<std::uint32_t>(length.count() * 600 - 1);
        const CpuSums sums = sum_cpu(profile);
        EXPECT_EQ(sums.step, step) << length.count();
        EXPECT_EQ(sums.end(), profile.started + length);
        EXPECT_LE(sums.step_count, CpuSums::kMaxSteps);
    }
}

// 200 of them: the more the higher their number.
TEST(CpuSums, AddUpTheRarestWithoutAName) {
    test::MinuteProfile minute;
    for (std::uint32_t i = 1; i <= 200; ++i) {
        minute.add({"work"}, labels_of(i, "worker" + std::to_string(i)), {{10, i}});
    }
    const CpuSums sums = sum_cpu(minute.profile);
    ASSERT_THAT(sums.processes, SizeIs(CpuSums::kMaxOwners + 1));
    EXPECT_EQ(sums.processes[0].name, "worker200");
    EXPECT_EQ(sums.processes[CpuSums::kMaxOwners - 1].name, "worker137");
    EXPECT_EQ(sums.processes.back().name, "");
    // 1 + 2 + ... + 136.
    EXPECT_EQ(sums.processes.back().cpu_us.at(0), 136 * 137 / 2 * kSampleUs);
}

TEST(CpuSums, AreGivenBackAsTheyWere) {
    const CpuSums sums = sum_cpu(some_minute());
    const auto packed = encode_cpu_sums(sums);
    ASSERT_TRUE(packed.has_value()) << packed.error().message();
    const auto read = decode_cpu_sums(*packed);
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(read->begin, sums.begin);
    EXPECT_EQ(read->step, sums.step);
    EXPECT_EQ(read->step_count, sums.step_count);
    for (const auto& [was, is] :
         {std::pair{&sums.units, &read->units}, std::pair{&sums.processes, &read->processes}}) {
        ASSERT_EQ(is->size(), was->size());
        for (std::size_t i = 0; i < was->size(); ++i) {
            EXPECT_EQ((*is)[i].name, (*was)[i].name);
            EXPECT_EQ((*is)[i].cpu_us, (*was)[i].cpu_us);
        }
    }
}

TEST(CpuSums, AreRefusedWhereTheyAreDamaged) {
    const std::string packed = *encode_cpu_sums(sum_cpu(some_minute()));
    for (std::size_t length = 0; length < packed.size(); ++length) {
        EXPECT_FALSE(decode_cpu_sums(packed.substr(0, length)).has_value()) << length;
    }
    const std::string expected = *encode_cpu_sums(*decode_cpu_sums(packed));
    for (std::size_t bit = 0; bit < 8 * packed.size(); ++bit) {
        std::string damaged = packed;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        const auto read = decode_cpu_sums(damaged);
        if (!read) continue;
        EXPECT_EQ(*encode_cpu_sums(*read), expected) << "bit " << bit;
    }
}

// Steps of a chart that are whole ones of the sums, and a profile that begins within one.
TEST(CpuSums, GiveTheChartThatTheirProfileGives) {
    symbolize::NamedProfile minute = some_minute();
    minute.started += std::chrono::milliseconds{2'003};
    for (const By by : {By::kUnit, By::kComm, By::kAll}) {
        const Range range{kMorning - seconds{20}, kMorning + seconds{100}};
        CpuSeries opened(range, seconds{20}, by);
        opened.add(minute);
        CpuSeries summed(range, seconds{20}, by);
        const CpuSums sums = sum_cpu(minute);
        ASSERT_TRUE(summed.can_add(sums));
        summed.add(sums);
        const auto expected = opened.take(9);
        const auto got = summed.take(9);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            EXPECT_EQ(got[i].name, expected[i].name);
            EXPECT_THAT(got[i].cores,
                        testing::Pointwise(testing::DoubleNear(1e-9), expected[i].cores));
        }
    }
}

TEST(CpuSums, AreNotTakenForWhatTheyDoNotSay) {
    const CpuSums sums = sum_cpu(some_minute());
    const auto can_add = [&](seconds begin, seconds end, seconds step) {
        return CpuSeries({kMorning + begin, kMorning + end}, step, By::kUnit).can_add(sums);
    };
    EXPECT_TRUE(can_add(seconds{0}, seconds{120}, seconds{5}));
    EXPECT_FALSE(can_add(seconds{0}, seconds{120}, seconds{4}));
    EXPECT_FALSE(can_add(seconds{1}, seconds{120}, seconds{5}));
    EXPECT_FALSE(can_add(seconds{0}, seconds{59}, seconds{5}));
}

// Owner i has i samples; of more than there may be the lesser lose their names, and no time is
// lost.
TEST(CpuSeries, NamesTheLargestOfVeryMany) {
    constexpr std::uint32_t kOwners = 5'000;
    CpuSeries series({kMorning, kMorning + seconds{60}}, seconds{60}, By::kComm);
    for (std::uint32_t i = 1; i <= kOwners; ++i) {
        test::MinuteProfile minute;
        minute.add({"work"}, labels_of(i, "worker" + std::to_string(i)), {{0, i}});
        series.add(minute.profile);
    }
    const auto shown = series.take(2);
    ASSERT_THAT(shown, SizeIs(3));
    EXPECT_EQ(shown[0].name, "worker5000");
    EXPECT_EQ(shown[1].name, "worker4999");
    EXPECT_THAT(shown[0].cores, ElementsAre(DoubleEq(5000 * 0.05 / 60)));
    EXPECT_THAT(shown[2].cores,
                ElementsAre(testing::DoubleNear(4998.0 * 4999 / 2 * 0.05 / 60, 1e-6)));
}

}  // namespace
}  // namespace bobbin::store
