// SPDX-License-Identifier: Apache-2.0
#include "profile/read_pprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "profile/gzip.h"
#include "profile/pprof.h"

namespace bobbin::profile {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

// protobuf's wire format by hand (encoding guide): a field is number << 3 | type, 0 varint, 2
// bytes.
std::string field(int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string field(int number, char varint) {
    return std::string{static_cast<char>(number << 3), varint};
}

// Numbers of fields are those of profile.proto. Strings: 0 "", 1 "alloc", 2 "count", 3 "space",
// 4 "bytes", 5 "f".
std::string message(const std::string& samples, const std::string& others = {}) {
    std::string text = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4));
    text += samples + field(4, field(1, 7) + field(4, field(1, 9))) +  // location 7: function 9
            field(5, field(1, 9) + field(2, 5));
    for (const char* string : {"", "alloc", "count", "space", "bytes", "f"})
        text += field(6, std::string(string));
    return text + others;
}
std::string sample(char location, char first, char second) {
    return field(2, field(1, location) + field(2, first) + field(2, second));
}

std::string error_of(const std::string& bytes, std::string_view value = {}) {
    const auto profile = read_pprof(bytes, value);
    return profile ? "none" : profile.error().message();
}

TEST(ReadPprof, TakesTheLastValueOrTheOneThatIsNamed) {
    const std::string bytes = message(sample(7, 3, 100));
    const auto last = read_pprof(bytes);
    ASSERT_TRUE(last) << last.error().message();
    EXPECT_EQ(last->value_type, (symbolize::ValueType{"space", "bytes"}));
    EXPECT_EQ(last->count_type, (symbolize::ValueType{"alloc", "count"}));
    EXPECT_EQ(last->stacks.at(0).value, 100U);
    EXPECT_EQ(last->stacks.at(0).count, 3U);
    EXPECT_EQ(last->functions.at(last->locations.at(0).lines.at(0).function).name, "f");
    const auto named = read_pprof(bytes, "alloc");
    ASSERT_TRUE(named);
    EXPECT_EQ(named->stacks.at(0).value, 3U);
    EXPECT_THAT(error_of(bytes, "cpu"), HasSubstr("there are: alloc space"));
}

TEST(ReadPprof, TakesTheDefaultOfTheFile) {
    const auto profile = read_pprof(message(sample(7, 3, 100), field(14, 1)));
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->value_type.name, "alloc");
}

TEST(ReadPprof, RefusesWhatRefersToNothing) {
    EXPECT_THAT(error_of(message(sample(8, 1, 1))), HasSubstr("there is no location 8"));
    EXPECT_THAT(error_of(message(field(2, field(1, 7) + field(2, 1)))),
                HasSubstr("a sample has 1 values, the file 2"));
    EXPECT_THAT(error_of(message({}, field(4, field(1, 6) + field(4, field(1, 1))))),
                HasSubstr("there is no function 1"));
    EXPECT_THAT(error_of(message({}, field(5, field(1, 8) + field(2, 77)))),
                HasSubstr("string 77 of 6"));
    EXPECT_THAT(error_of(""), HasSubstr("no sample type"));
    EXPECT_THAT(error_of("\x0a\x7f"), HasSubstr("not a pprof profile"));
}

symbolize::NamedProfile small_profile() {
    symbolize::NamedProfile profile;
    profile.functions = {{"inlined", "inlined", "a.c"}, {"f", "_Zf", "a.c"}, {"k", "k", ""}};
    profile.mappings = {{.start_file_vaddr = 0x1000,
                         .end_file_vaddr = 0x2000,
                         .file_offset = 16,
                         .file = "/bin/a",
                         .build_id = "0a",
                         .has_functions = true},
                        {.start_file_vaddr = 1ULL << 63, .file = "[kernel]"}};
    profile.locations = {
        {.mapping = 0, .address = 0x1234, .lines = {{0, 3}, {1, 9}}, .is_named = true},
        {.mapping = 1,
         .address = (1ULL << 63) + 5,
         .lines = {{2, 0}},
         .is_named = true,
         .is_kernel = true}};
    symbolize::NamedStack stack;
    stack.locations = {1, 0};
    stack.labels = {.pid = 1,
                    .tid = 2,
                    .cpu = 3,
                    .comm = "a",
                    .thread = "t",
                    .cgroup = "/c",
                    .unit = "u",
                    .container = "x",
                    .others = {{"key", "text"}}};
    stack.by_frame_pointer = {1};
    stack.walk_end = abi::WALK_END_NO_MAPPING;
    stack.count = 5;
    stack.value = 50;
    stack.times = {{0, 2}, {3, 3}};
    profile.stacks = {stack};
    profile.sample_count = 5;
    profile.time_bucket = milliseconds(200);
    profile.period = std::chrono::nanoseconds(10);
    profile.duration = milliseconds(800);
    profile.started = std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000));
    profile.comments = {"a comment"};
    return profile;
}

TEST(ReadPprof, GivesBackWhatWasWritten) {
    const symbolize::NamedProfile wrote = small_profile();
    const auto read = read_pprof(*encode_pprof(wrote));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->functions, wrote.functions);
    ASSERT_EQ(read->stacks.size(), 1U);
    EXPECT_EQ(read->stacks[0].labels, wrote.stacks[0].labels);
    EXPECT_EQ(read->stacks[0].by_frame_pointer, wrote.stacks[0].by_frame_pointer);
    EXPECT_EQ(read->stacks[0].walk_end, abi::WALK_END_NO_MAPPING);
    EXPECT_EQ(read->by_walk_end.at(abi::WALK_END_NO_MAPPING), 5U);
    EXPECT_EQ(read->stacks[0].count, 5U);
    EXPECT_EQ(read->stacks[0].value, 50U);
    EXPECT_EQ(read->stacks[0].locations, wrote.stacks[0].locations);
    EXPECT_EQ(read->locations.at(0).address, 0x1234U);
    EXPECT_EQ(read->locations.at(0).lines.at(1).line, 9U);
    EXPECT_FALSE(read->locations.at(0).is_kernel);
    EXPECT_TRUE(read->locations.at(1).is_kernel);
    EXPECT_EQ(read->mappings.at(0).build_id, "0a");
    EXPECT_EQ(read->mappings.at(0).file_offset, 16U);
    EXPECT_EQ(read->started, wrote.started);
    EXPECT_EQ(read->duration, wrote.duration);
    EXPECT_THAT(read->comments, ElementsAre("a comment"));
    EXPECT_EQ(encode_pprof_uncompressed(*read), encode_pprof_uncompressed(wrote));
}

// Spans come back as the longest that all offsets are multiples of: 3 spans of 200 ms.
TEST(ReadPprof, GivesBackTimes) {
    const auto read = read_pprof(*encode_pprof(small_profile(), Times::kKeep));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->time_bucket, milliseconds(600));
    ASSERT_EQ(read->stacks.size(), 2U);
    EXPECT_EQ(read->stacks[0].times, (aggregate::TimeCounts{{0, 2}}));
    EXPECT_EQ(read->stacks[1].times, (aggregate::TimeCounts{{1, 3}}));
    EXPECT_EQ(read->sample_count, 5U);
}

TEST(ReadPprof, SurvivesEveryTruncation) {
    const std::string whole = encode_pprof_uncompressed(small_profile(), Times::kKeep);
    const std::string packed = *encode_pprof(small_profile());
    for (std::size_t size = 0; size < whole.size(); ++size) (void)read_pprof(whole.substr(0, size));
    for (std::size_t size = 0; size < packed.size(); ++size)
        EXPECT_FALSE(read_pprof(packed.substr(0, size))) << size;
}

TEST(Gunzip, GivesBackWhatWasPackedAndAllMembers) {
    const std::string text(100'000, 'x');
    EXPECT_EQ(*gunzip(*gzip(text), text.size()), text);
    EXPECT_EQ(*gunzip(*gzip("a") + *gzip("b"), 10), "ab");
    EXPECT_EQ(*gunzip(*gzip(""), 0), "");
}

TEST(Gunzip, BoundsWhatComesOut) {
    const std::string packed = *gzip(std::string(100'000, 'x'));
    const auto text = gunzip(packed, 99'999);
    ASSERT_FALSE(text);
    EXPECT_THAT(text.error().message(), HasSubstr("more than 99999 bytes"));
}

TEST(Gunzip, RefusesWhatIsCutOrDamaged) {
    std::string packed = *gzip("some text that is packed");
    EXPECT_FALSE(gunzip(packed.substr(0, packed.size() - 1), 1000));
    packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // its checksum
    EXPECT_FALSE(gunzip(packed, 1000));
    EXPECT_FALSE(gunzip("\x1f\x8bno", 1000));
}

}  // namespace
}  // namespace bobbin::profile
