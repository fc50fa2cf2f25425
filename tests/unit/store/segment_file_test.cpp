// SPDX-License-Identifier: Apache-2.0
#include "store/segment_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profile/pprof.h"
#include "store/cpu_sums.h"
#include "unit/store/minute_profile.h"

namespace bobbin::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string encoded(const symbolize::NamedProfile& profile) {
    auto bytes = encode_segment(profile);
    EXPECT_TRUE(bytes.has_value()) << bytes.error().message();
    return bytes ? *bytes : std::string();
}

symbolize::NamedProfile some_minute() {
    test::MinuteProfile minute;
    minute.add({"work", "main"}, test::labels_of(7, "app", "app.service"), {{3, 2}, {9, 1}});
    minute.add({"idle", "main"}, test::labels_of(8, "app"), {{20, 5}});
    minute.profile.comments = {"said"};
    return minute.profile;
}

TEST(SegmentFile, SaysInItsHeadWhatItIsAbout) {
    const auto facts = decode_segment_head(encoded(some_minute()).substr(0, kSegmentHeadBytes));
    ASSERT_TRUE(facts.has_value()) << facts.error().message();
    EXPECT_EQ(facts->begin, test::kMorning);
    EXPECT_EQ(facts->duration, std::chrono::minutes{1});
    EXPECT_EQ(facts->sample_count, 8U);
    EXPECT_EQ(facts->cpu_ns, 8U * 50'000'000);
    EXPECT_EQ(facts->time_bucket, std::chrono::milliseconds{100});
}

// pprof has a sample for each span that a stack was met in; read back it is written the same.
TEST(SegmentFile, GivesTheProfileBack) {
    const symbolize::NamedProfile minute = some_minute();
    const auto read = decode_segment(encoded(minute));
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(read->time_bucket, minute.time_bucket);
    EXPECT_EQ(profile::encode_pprof_uncompressed(*read, profile::Times::kKeep),
              profile::encode_pprof_uncompressed(minute, profile::Times::kKeep));
}

// Offsets of one sample, 2 s, look like spans of 2 s; its head knows better.
TEST(SegmentFile, KnowsItsSpansByTheHead) {
    test::MinuteProfile minute;
    minute.add({"work"}, test::labels_of(7, "app"), {{20, 1}});
    const auto read = decode_segment(encoded(minute.profile));
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(read->time_bucket, std::chrono::milliseconds{100});
    EXPECT_THAT(read->stacks.at(0).times, ElementsAre(aggregate::TimeCount{20, 1}));
}

TEST(SegmentFile, MayBeEmpty) {
    const auto read = decode_segment(encoded(test::MinuteProfile().profile));
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(read->sample_count, 0U);
    EXPECT_EQ(read->started, test::kMorning);
}

// Some bits of a packed file, those that fill a byte up, say nothing; and those of its sums say
// nothing of the profile.
TEST(SegmentFile, IsNeverReadWrongly) {
    const std::string whole = encoded(some_minute());
    const auto text_of = [](const symbolize::NamedProfile& profile) {
        return profile::encode_pprof_uncompressed(profile, profile::Times::kKeep);
    };
    const std::string expected = text_of(*decode_segment(whole));
    const std::string_view sums = packed_sums_of(whole);
    const auto sums_begin = static_cast<std::size_t>(sums.data() - whole.data());
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string damaged = whole;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        const auto read = decode_segment(damaged);
        if (bit / 8 >= sums_begin && bit / 8 < sums_begin + sums.size()) {
            ASSERT_TRUE(read.has_value()) << "bit " << bit;
        }
        if (!read) {
            ++refused;
        } else {
            EXPECT_GE(bit / 8, kSegmentHeadBytes);
            EXPECT_EQ(text_of(*read), expected) << "bit " << bit;
        }
    }
    EXPECT_GT(refused, 8 * (whole.size() - sums.size()) * 9 / 10);
}

TEST(SegmentFile, IsNotReadWhereItsEndIsMissing) {
    const std::string whole = encoded(some_minute());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_FALSE(decode_segment(whole.substr(0, length)).has_value()) << length;
    }
}

// Such were written before there were sums.
TEST(SegmentFile, IsReadWithoutSums) {
    const std::string whole = encoded(some_minute());
    const std::string old =
        whole.substr(0, kSegmentHeadBytes) + whole.substr(front_bytes_of(whole));
    ASSERT_LT(old.size(), whole.size());
    EXPECT_EQ(front_bytes_of(old), kSegmentHeadBytes);
    EXPECT_EQ(packed_sums_of(old), "");
    const auto read = decode_segment(old);
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(read->sample_count, 8U);
}

TEST(SegmentFile, HasItsSumsInFront) {
    const std::string whole = encoded(some_minute());
    const auto sums = decode_cpu_sums(packed_sums_of(whole));
    ASSERT_TRUE(sums.has_value()) << sums.error().message();
    ASSERT_THAT(sums->processes, testing::SizeIs(1));
    EXPECT_EQ(sums->processes[0].name, "app");
    // Its 8 samples of 50 ms are in the first 5 s.
    EXPECT_EQ(sums->processes[0].cpu_us.at(0), 8U * 50'000);
    // What ends before they do has none.
    EXPECT_EQ(packed_sums_of(whole.substr(0, kSegmentHeadBytes)), "");
    EXPECT_EQ(packed_sums_of(whole.substr(0, front_bytes_of(whole) - 1)), "");
}

TEST(SegmentFile, IsToldFromOthers) {
    const auto facts = decode_segment_head(std::string(kSegmentHeadBytes, 'x'));
    ASSERT_FALSE(facts.has_value());
    EXPECT_THAT(facts.error().message(), HasSubstr("no segment of bobbin"));
}

}  // namespace
}  // namespace bobbin::store
