// SPDX-License-Identifier: Apache-2.0
#include "store/where.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/store/minute_profile.h"

namespace bobbin::store {
namespace {

using symbolize::SampleLabels;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

SampleLabels worker() {
    SampleLabels labels = test::labels_of(42, "nginx", "nginx.service");
    labels.tid = 43;
    labels.cpu = 1;
    labels.thread = "worker 1";
    labels.others = {{"request", "get /"}};
    return labels;
}

bool matches(const std::string& text, const SampleLabels& labels = worker()) {
    const auto where = Where::parse(text);
    EXPECT_TRUE(where.has_value()) << text << ": " << where.error().message();
    return where && where->matches(labels);
}

std::string mistake_in(const std::string& text) {
    const auto where = Where::parse(text);
    EXPECT_FALSE(where.has_value()) << text;
    return where ? std::string() : where.error().message();
}

TEST(Where, ComparesTheLabelsOfASample) {
    EXPECT_TRUE(matches(R"(unit="nginx.service")"));
    EXPECT_FALSE(matches(R"(unit="nginx")"));
    EXPECT_TRUE(matches(R"(comm!="sshd")"));
    EXPECT_FALSE(matches(R"(comm!="nginx")"));
    EXPECT_TRUE(matches(R"(pid="42")"));
    EXPECT_TRUE(matches(R"(tid="43")"));
    EXPECT_TRUE(matches(R"(cpu="1")"));
    EXPECT_FALSE(matches(R"(pid="4")"));
    EXPECT_TRUE(matches(R"(cgroup="/system.slice/nginx.service")"));
    EXPECT_TRUE(matches(R"(thread="worker 1")"));
    EXPECT_TRUE(matches(R"(request="get /")"));
}

TEST(Where, TakesWhatASampleDoesNotHaveForEmpty) {
    EXPECT_TRUE(matches(R"(container="")"));
    EXPECT_FALSE(matches(R"(container!="")"));
    EXPECT_TRUE(matches(R"(colour="")"));
    EXPECT_TRUE(matches(R"(colour=~".*")"));
}

TEST(Where, MatchesAPatternWithTheWholeText) {
    EXPECT_TRUE(matches(R"(comm=~"ng.*")"));
    EXPECT_FALSE(matches(R"(comm=~"gin")"));
    EXPECT_TRUE(matches(R"(comm=~".*gin.*")"));
    EXPECT_FALSE(matches(R"(comm!~"ng.*")"));
    EXPECT_TRUE(matches(R"(comm!~"gin")"));
    // Anchors hold for both sides of the bar.
    EXPECT_TRUE(matches(R"(comm=~"sshd|nginx")"));
    EXPECT_FALSE(matches(R"(comm=~"sshd|ngin")"));
}

TEST(Where, DemandsAllOfItsConditions) {
    EXPECT_TRUE(matches(R"(comm=~"ng.*", pid="42")"));
    EXPECT_FALSE(matches(R"(comm=~"ng.*", pid="43")"));
    EXPECT_FALSE(matches(R"(comm="sshd", pid="42")"));
}

TEST(Where, ReadsWhatPrometheusAndShellsWrite) {
    EXPECT_TRUE(matches(R"({comm="nginx",pid="42"})"));
    EXPECT_TRUE(matches(R"( { comm = "nginx" , } )"));
    EXPECT_TRUE(matches("comm=nginx, pid=42"));
    EXPECT_TRUE(matches("comm='nginx'"));
    SampleLabels odd = worker();
    odd.comm = R"(a"b\c)";
    EXPECT_TRUE(matches(R"(comm="a\"b\\c")", odd));
    EXPECT_TRUE(matches(R"(comm='a"b\c')", odd));
    odd.comm = "a.b";
    EXPECT_TRUE(matches(R"(comm=~"a\.b")", odd));
}

TEST(Where, WithoutConditionsIsEverything) {
    EXPECT_TRUE(matches(""));
    EXPECT_TRUE(matches("{}"));
    EXPECT_TRUE(Where::parse(" ")->is_everything());
    EXPECT_FALSE(Where::parse("pid=1")->is_everything());
}

TEST(Where, SaysWhatIsWrongAndWhere) {
    EXPECT_THAT(mistake_in(R"(comm"nginx")"), HasSubstr("column 5: = != =~ or !~"));
    EXPECT_THAT(mistake_in(R"(="nginx")"), HasSubstr("column 1: a label"));
    EXPECT_THAT(mistake_in("comm="), HasSubstr("column 6: a value"));
    EXPECT_THAT(mistake_in(R"(comm="nginx)"), HasSubstr("column 6: the quote is not closed"));
    EXPECT_THAT(mistake_in(R"(comm="a" pid="1")"), HasSubstr("column 10: a comma"));
    EXPECT_THAT(mistake_in(R"({comm="a")"), HasSubstr("column 10: the brace is not closed"));
    EXPECT_THAT(mistake_in(R"({comm="a"} x)"), HasSubstr("column 12: nothing may follow"));
    EXPECT_THAT(mistake_in(R"(comm=~"(")"), HasSubstr("column 7: "));
    EXPECT_THAT(mistake_in(R"(comm=~"(a)\1")"), HasSubstr("refers back"));
}

TEST(Where, FindsUnitsWithAllThatIsBelowThem) {
    Where where;
    where.add_unit("nginx");
    EXPECT_TRUE(where.matches(worker()));
    EXPECT_FALSE(where.matches(test::labels_of(1, "sshd", "ssh.service")));
    where.add_unit("ssh.service");
    EXPECT_TRUE(where.matches(test::labels_of(1, "sshd", "ssh.service")));
    EXPECT_TRUE(where.matches(worker()));

    Where slice;
    slice.add_unit("system.slice");
    EXPECT_TRUE(slice.matches(worker()));
    EXPECT_FALSE(slice.matches(test::labels_of(1, "init")));
    Where part;
    part.add_unit("m.slice");
    EXPECT_FALSE(part.matches(worker()));
}

TEST(Where, LeavesOfAProfileWhatMatches) {
    test::MinuteProfile minute;
    minute.add({"serve", "main"}, worker(), {{1, 3}});
    minute.add({"crypt", "main"}, test::labels_of(7, "sshd"), {{1, 5}});
    Where::parse("comm=sshd")->keep_matching(minute.profile);
    ASSERT_THAT(minute.profile.stacks, SizeIs(1));
    EXPECT_EQ(minute.profile.stacks[0].labels.pid, 7U);
    EXPECT_EQ(minute.profile.sample_count, 5U);
    EXPECT_EQ(minute.profile.by_walk_end[abi::WALK_END_BOTTOM], 5U);
    EXPECT_THAT(minute.profile.functions, SizeIs(2));  // crypt and main
    EXPECT_EQ(minute.profile.duration, std::chrono::minutes{1});

    Where::parse("comm=nobody")->keep_matching(minute.profile);
    EXPECT_THAT(minute.profile.stacks, IsEmpty());
    EXPECT_EQ(minute.profile.sample_count, 0U);
    EXPECT_EQ(minute.profile.started, test::kMorning);
}

}  // namespace
}  // namespace bobbin::store
