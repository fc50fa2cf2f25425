// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/explain.h"
#include "cli/report_text.h"
#include "cli/verbs.h"
#include "unit/report/small_profile.h"

namespace bobbin::cli {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using Words = std::vector<std::string>;

ReportCommand command_of(Words words) {
    words.insert(words.begin(), "report");
    Understood result = understand(words, {});
    if (const auto* error = std::get_if<UserError>(&result)) {
        ADD_FAILURE() << describe(*error);
        return {};
    }
    return std::get<ReportCommand>(std::move(result));
}

std::string error_of(Words words, const std::string& verb = "report") {
    words.insert(words.begin(), verb);
    Understood result = understand(words, {});
    const auto* const error = std::get_if<UserError>(&result);
    EXPECT_NE(error, nullptr) << testing::PrintToString(words);
    if (error == nullptr) return {};
    EXPECT_EQ(error->exit_status, kExitUsage);
    EXPECT_EQ(error->run, "bobbin " + verb + " --help");
    return error->what + "\n" + error->why;
}

// 9 samples of 10 ms: work<main 6, of which 2 in malloc, main 1, main of "other" 2. 60 ms recorded.
symbolize::NamedProfile example() {
    report::test::SmallProfile small;
    const auto main = small.location({"main"}, "/bin/app", 40);
    const auto work = small.location({"work"}, "/bin/app");
    const auto malloc = small.location({"malloc"}, "/lib/libc.so.6");
    small.stack({work, main}, 4).labels.comm = "app";
    small.stack({malloc, work, main}, 2).labels.comm = "app";
    small.stack({main}, 1).labels.comm = "app";
    small.stack({main}, 2).labels.comm = "other";
    for (auto& stack : small.profile.stacks) stack.value = stack.count * 10'000'000;
    small.profile.duration = 60ms;
    return small.profile;
}

std::string text_of(const Words& words, const Terminal& terminal = {}) {
    return to_text(make_report(command_of(words), example()), terminal);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST(ReportArguments, HaveWhatIsAskedFor) {
    const ReportCommand plain = command_of({"a.pb.gz"});
    EXPECT_EQ(plain.path, "a.pb.gz");
    EXPECT_EQ(plain.grouping.by, report::By::kFunction);
    EXPECT_EQ(plain.sort, report::Sort::kSelf);
    EXPECT_FALSE(plain.top || plain.peek || plain.filter.focus || plain.tree);

    const ReportCommand full = command_of({"-", "--by", "label:request", "--top=5", "--sort",
                                           "total", "--focus", "^a", "--ignore=b", "--hide", "c",
                                           "--show-from", "d", "--sample-type", "samples", "--md"});
    EXPECT_EQ(full.path, "-");
    EXPECT_EQ(full.grouping.by, report::By::kLabel);
    EXPECT_EQ(full.grouping.label_key, "request");
    EXPECT_EQ(full.top, 5U);
    EXPECT_EQ(full.sort, report::Sort::kTotal);
    ASSERT_TRUE(full.filter.focus && full.filter.ignore && full.filter.hide &&
                full.filter.show_from);
    EXPECT_TRUE(full.filter.focus->matches("abc"));
    EXPECT_FALSE(full.filter.focus->matches("cba"));
    EXPECT_EQ(full.sample_type, "samples");
    EXPECT_EQ(full.style, ReportCommand::Style::kMarkdown);
    EXPECT_EQ(command_of({"x", "--json"}).style, ReportCommand::Style::kJson);
}

TEST(ReportArguments, AreRefusedWithAReason) {
    EXPECT_THAT(error_of({}), HasSubstr("needs a file"));
    EXPECT_THAT(error_of({"a", "b"}), HasSubstr("one file"));
    EXPECT_THAT(error_of({"a", "--by", "colour"}), AllOf(HasSubstr("colour"), HasSubstr("module")));
    EXPECT_THAT(error_of({"a", "--by", "label:"}), HasSubstr("label:KEY"));
    EXPECT_THAT(error_of({"a", "--top", "-1"}), HasSubstr("number"));
    EXPECT_THAT(error_of({"a", "--sort", "name"}), HasSubstr("self or total"));
    EXPECT_THAT(error_of({"a", "--focus", "(b"}), HasSubstr("--focus"));
    EXPECT_THAT(error_of({"a", "--peek", "(?i)b"}), HasSubstr("POSIX"));
    EXPECT_THAT(error_of({"a", "--json", "--md"}), HasSubstr("--json and --md"));
    EXPECT_THAT(error_of({"a", "--tree", "--peek", "b"}), HasSubstr("--tree and --peek"));
    EXPECT_THAT(error_of({"a", "--tree", "--by", "cpu"}), HasSubstr("--tree"));
    EXPECT_THAT(error_of({}, "explain"), HasSubstr("needs a file"));
}

// 90 ms in 60 ms: 1.5 CPUs. work: self 40, total 60 of 90 ms.
TEST(ReportText, IsATable) {
    const auto lines = lines_of(text_of({"a.pb.gz"}));
    ASSERT_THAT(lines, SizeIs(6));
    EXPECT_EQ(lines[0], "a.pb.gz: 9 samples, 90ms of cpu in 60ms: 1.50 cores");
    EXPECT_EQ(lines[1], "");
    EXPECT_EQ(lines[2], "self  self %  total  total %  function");
    EXPECT_EQ(lines[3], "40ms  44.4 %   60ms   66.7 %  work  app  work.c");
    EXPECT_EQ(lines[4], "30ms  33.3 %   90ms  100.0 %  main  app  main.c:40");
    EXPECT_EQ(lines[5], "20ms  22.2 %   20ms   22.2 %  malloc  libc.so.6  malloc.c");
}

TEST(ReportText, SaysWhatPartIsShownAndWhatIsLeftOut) {
    const auto lines = lines_of(text_of({"a", "--focus", "work", "--top", "1"}));
    ASSERT_THAT(lines, SizeIs(6));
    EXPECT_EQ(lines[1], "shown: 66.7 % of it, 60ms");
    EXPECT_THAT(lines[4], HasSubstr("work"));
    EXPECT_EQ(lines[5], "and 2 more; --top 0 shows all");
}

TEST(ReportText, OfOwnersHasOneColumn) {
    const auto lines = lines_of(text_of({"a", "--by", "label:comm"}));
    ASSERT_THAT(lines, SizeIs(5));
    EXPECT_EQ(lines[2], "total  total %  comm");
    EXPECT_EQ(lines[3], " 70ms   77.8 %  app");
    EXPECT_EQ(lines[4], " 20ms   22.2 %  other");
}

TEST(ReportText, IndentsATreeWhereItForks) {
    const auto lines = lines_of(text_of({"a", "--tree"}));
    ASSERT_THAT(lines, SizeIs(9));
    EXPECT_EQ(lines[3], " 70ms   77.8 %        app");
    EXPECT_EQ(lines[4], " 70ms   77.8 %  10ms  main  app  main.c");
    EXPECT_EQ(lines[5], " 60ms   66.7 %  40ms  work  app  work.c");
    EXPECT_EQ(lines[7], " 20ms   22.2 %        other");
}

TEST(ReportText, OfAPeekHasCallersAndCallees) {
    const std::string text = text_of({"a", "--peek", "^work$"});
    EXPECT_THAT(text, HasSubstr("work  app  work.c\n  self 40ms (44.4 %), total 60ms (66.7 %)\n"));
    EXPECT_THAT(text, HasSubstr("  called by\n    60ms  100.0 %  main"));
    EXPECT_THAT(text, HasSubstr("  calls\n    20ms   33.3 %  malloc"));
    EXPECT_THAT(text_of({"a", "--peek", "nothing_like_it"}), HasSubstr("nothing has such a name"));
}

TEST(ReportText, FitsTheTerminal) {
    const auto lines = lines_of(text_of({"a"}, {.columns = 40, .has_colours = false}));
    EXPECT_THAT(lines, Each(testing::ResultOf(
                           [](const std::string& line) {
                               // The mark at the end has three bytes.
                               return line.ends_with("…") ? line.size() - 2 : line.size();
                           },
                           testing::Le(40U))));
    EXPECT_EQ(lines[5], "20ms  22.2 %   20ms   22.2 %  malloc  l…");
    EXPECT_EQ(cut_to("aäö", 3), "aäö");
    EXPECT_EQ(cut_to("aäöü", 3), "aä…");
    EXPECT_THAT(text_of({"a"}), Not(HasSubstr("\x1b")));
    EXPECT_THAT(text_of({"a"}, {.columns = 0, .has_colours = true}), HasSubstr("\x1b[1mself"));
}

TEST(ReportText, OfNoSamplesSaysSo) {
    EXPECT_EQ(to_text(make_report(command_of({"a"}), {}), {}), "a: no samples\n");
    EXPECT_THAT(to_json(make_report(command_of({"a"}), {})), HasSubstr("\"rows\": []"));
}

TEST(ReportText, EscapesForeignNames) {
    report::test::SmallProfile small;
    small.stack({small.location({"f\x1b[2J|`x`"}, "/bin/\x1b]0;\x07")}, 1);
    for (const char* style : {"--top=9", "--md", "--tree", "--peek=f"}) {
        const ReportAnswer answer = make_report(command_of({"a", style}), small.profile);
        EXPECT_THAT(to_text(answer, {}), Not(HasSubstr("\x1b")));
        EXPECT_THAT(to_markdown(answer), Not(HasSubstr("\x1b")));
    }
    EXPECT_THAT(to_markdown(make_report(command_of({"a"}), small.profile)),
                HasSubstr("`` f\\x1b[2J\\|`x` ``"));
}

TEST(ReportValue, IsWrittenInItsUnit) {
    EXPECT_EQ(value_text(1'234'000'000, "nanoseconds"), "1.23s");
    EXPECT_EQ(value_text(45'600'000, "nanoseconds"), "46ms");
    EXPECT_EQ(value_text(5'000'000'000'000, "nanoseconds"), "5,000s");
    EXPECT_EQ(value_text(5'000'000, "bytes"), "5.0 MB");
    EXPECT_EQ(value_text(12'345, "count"), "12,345");
    EXPECT_EQ(value_text(7, "frogs"), "7 frogs");
}

// Files without values of their own are read by how often.
TEST(Report, CountsWhereNothingIsMeasured) {
    symbolize::NamedProfile profile = example();
    for (auto& stack : profile.stacks) stack.value = 0;
    const ReportAnswer answer = make_report(command_of({"a"}), std::move(profile));
    EXPECT_EQ(answer.all.value, 9U);
    EXPECT_THAT(to_text(answer, {}), StartsWith("a: 9 samples in 60ms\n"));
}

TEST(ReportJson, HasNumbersForPrograms) {
    const auto json =
        nlohmann::json::parse(to_json(make_report(command_of({"a", "--focus=work"}), example())));
    EXPECT_EQ(json["value"]["unit"], "nanoseconds");
    EXPECT_EQ(json["all"]["value"], 90'000'000);
    EXPECT_EQ(json["shown"]["count"], 6);
    EXPECT_DOUBLE_EQ(json["cores"], 1.5);
    EXPECT_EQ(json["by"], "function");
    ASSERT_EQ(json["rows"].size(), 3U);
    EXPECT_EQ(json["rows"][0]["name"], "work");
    EXPECT_EQ(json["rows"][0]["module"], "/bin/app");
    EXPECT_EQ(json["rows"][0]["self"]["count"], 4);
    EXPECT_DOUBLE_EQ(json["rows"][0]["total"]["share"], 6.0 / 9);

    const auto tree =
        nlohmann::json::parse(to_json(make_report(command_of({"a", "--tree"}), example())));
    EXPECT_EQ(tree["nodes"][0]["name"], "app");
    EXPECT_TRUE(tree["nodes"][0]["parent"].is_null());
    EXPECT_EQ(tree["nodes"][1]["parent"], 0);
    EXPECT_EQ(tree["nodes"][1]["depth"], 1);
}

TEST(ReportMarkdown, IsATableOfAForge) {
    EXPECT_THAT(to_markdown(make_report(command_of({"a"}), example())),
                HasSubstr("|--:|--:|--:|--:|---|---|---|\n"
                          "| 40ms | 44.4 % | 60ms | 66.7 % | `work` | `/bin/app` | "
                          "`/src/work.c` |\n"));
}

// 9 stacks, one of which ends in libc; 6 * 2 + 2 + 3 = 17 frames.
TEST(ExplainText, SaysWhatIsMissingAndWhatHelps) {
    symbolize::NamedProfile profile = example();
    profile.locations[2].is_named = false;
    profile.stacks[1] = profile.stacks[3];
    profile.stacks[3] = {.locations = {2}, .walk_end = abi::WALK_END_NO_CFI, .count = 1};
    ExplainAnswer answer{.explanation = report::explain(profile), .problems = {}};
    for (const report::Problem& problem : report::problems_of(answer.explanation)) {
        const auto& module = answer.explanation.modules[problem.module];
        answer.problems.push_back({problem, report::advise(problem, module, {})});
    }
    // 4 work<main, 2 main, 1 main, 1 libc: 8 stacks, 12 frames.
    const std::string text = to_text(answer);
    EXPECT_THAT(text, StartsWith("Stacks   87.5 % complete · 12.5 % code without unwind "
                                 "information and without frame pointer\n"
                                 "Symbols  91.7 % named · 58.3 % with lines\n"));
    EXPECT_THAT(text, HasSubstr("   8.3 %    0.0 %    0.0 %    0.0 %    0.0 %    0.0 %  "
                                "/lib/libc.so.6\n"));
    EXPECT_THAT(text, HasSubstr("8.3 % of frames have no name: /lib/libc.so.6\n"));
    EXPECT_THAT(text, HasSubstr("    run:  sudo apt install libc6-dbg\n"));
    EXPECT_THAT(text, HasSubstr("12.5 % of stacks end in /lib/libc.so.6: code without"));

    const auto json = nlohmann::json::parse(to_json(answer));
    EXPECT_EQ(json["stack_ends"]["no_cfi"], 1);
    EXPECT_EQ(json["problems"].size(), answer.problems.size());
    EXPECT_EQ(json["problems"][0]["kind"], "lines");
}

TEST(ExplainText, OfNothingSaysSo) {
    EXPECT_EQ(to_text(ExplainAnswer{}), "no samples\n");
    EXPECT_THAT(nlohmann::json::parse(to_json(ExplainAnswer{}))["problems"], SizeIs(0));
}

}  // namespace
}  // namespace bobbin::cli
