// SPDX-License-Identifier: Apache-2.0
// What is written for people in packaging/ names what the program knows, no more and no less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/terminal_text.h"
#include "cli/verbs.h"
#include "support/output_of.h"
#include "support/temporary_directory.h"

namespace bobbin::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::filesystem::path packaging() {
    return std::filesystem::path(__FILE__).parent_path() / "../../../packaging";
}

std::string man_page(const std::string& name, int section = 1) {
    const std::string file = name + "." + std::to_string(section) + ".scd";
    const std::string text = test::file_content(packaging() / "man" / file);
    EXPECT_FALSE(text.empty()) << name;
    return text;
}

std::set<std::string> long_flags_in(const std::string& text) {
    const std::regex flag("--([a-z][a-z-]+)");
    std::set<std::string> names;
    for (std::sregex_iterator found(text.begin(), text.end(), flag), end; found != end; ++found) {
        names.insert((*found)[1]);
    }
    return names;
}

std::set<std::string> known_long_flags() {
    std::set<std::string> names;
    for (const Flag& flag : program_flags()) names.emplace(flag.long_name);
    for (const Verb& verb : all_verbs()) {
        for (const Flag& flag : verb.flags) names.emplace(flag.long_name);
    }
    return names;
}

void expect_flags(const std::string& page, std::span<const Flag> flags, const std::string& name) {
    for (const Flag& flag : flags) {
        EXPECT_THAT(page, HasSubstr("*--" + std::string(flag.long_name) + "*")) << name;
        if (flag.short_name.empty()) continue;
        EXPECT_THAT(page, HasSubstr("\n*-" + std::string(flag.short_name) + "*, ")) << name;
    }
}

TEST(ManPages, HaveEveryFlagOfTheHelp) {
    expect_flags(man_page("bobbin"), program_flags(), "bobbin");
    expect_flags(man_page("bobbin-record"), find_verb("record")->flags, "record");
    expect_flags(man_page("bobbin-top"), find_verb("top")->flags, "top");
    expect_flags(man_page("bobbin-report"), find_verb("report")->flags, "report");
    expect_flags(man_page("bobbin-diff"), find_verb("diff")->flags, "diff");
    expect_flags(man_page("bobbin-view"), find_verb("view")->flags, "view");
    expect_flags(man_page("bobbin-convert"), find_verb("convert")->flags, "convert");
    expect_flags(man_page("bobbin-explain"), find_verb("explain")->flags, "explain");
    expect_flags(man_page("bobbin-query"), find_verb("query")->flags, "query");
    expect_flags(man_page("bobbin-ctl"), find_verb("ctl")->flags, "ctl");
    expect_flags(man_page("bobbin-push"), find_verb("push")->flags, "push");
    expect_flags(man_page("bobbin-daemon", 8), find_verb("daemon")->flags, "daemon");
    expect_flags(man_page("bobbin-doctor"), find_verb("doctor")->flags, "doctor");
    expect_flags(man_page("bobbin"), find_verb("object-info")->flags, "object-info");
    expect_flags(man_page("bobbin"), find_verb("show-unwind")->flags, "show-unwind");
    for (const Verb& verb : all_verbs()) {
        EXPECT_THAT(man_page("bobbin"), HasSubstr("\n*" + std::string(verb.name) + "*"));
    }
}

TEST(ManPages, HaveNoFlagTheProgramDoesNotKnow) {
    const std::set<std::string> known = known_long_flags();
    for (const char* name : {"bobbin", "bobbin-record", "bobbin-top", "bobbin-report",
                             "bobbin-diff", "bobbin-view", "bobbin-convert", "bobbin-explain",
                             "bobbin-query", "bobbin-doctor", "bobbin-ctl", "bobbin-push"}) {
        for (const std::string& flag : long_flags_in(man_page(name))) {
            EXPECT_TRUE(known.contains(flag)) << name << " has --" << flag;
        }
    }
}

TEST(Completions, OfZshAndFishHaveEveryVerbAndFlag) {
    const std::string zsh = test::file_content(packaging() / "completions/_bobbin");
    const std::string fish = test::file_content(packaging() / "completions/bobbin.fish");
    for (const Verb& verb : all_verbs()) {
        EXPECT_THAT(zsh, HasSubstr("'" + std::string(verb.name) + ":"));
        EXPECT_THAT(fish, HasSubstr(" -a " + std::string(verb.name) + " "));
    }
    for (const std::string& flag : known_long_flags()) {
        EXPECT_THAT(long_flags_in(zsh), Contains(flag));
        EXPECT_THAT(fish, HasSubstr(" -l " + flag + " "));
    }
}

TEST(Completions, OfZshHaveNoFlagTheProgramDoesNotKnow) {
    const std::set<std::string> known = known_long_flags();
    for (const std::string& flag :
         long_flags_in(test::file_content(packaging() / "completions/_bobbin"))) {
        EXPECT_TRUE(known.contains(flag)) << flag;
    }
}

// bash itself completes: the answers to the last of `words`.
std::set<std::string> bash_answers(const std::vector<std::string>& words) {
    const std::string script = ". " +
                               shell_quote((packaging() / "completions/bobbin.bash").string()) +
                               "; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _bobbin; "
                               "printf '%s\\n' \"${COMPREPLY[@]}\"";
    const std::string command =
        "bash --norc -c " + shell_quote(script) + " bash " + shell_quote(words);
    std::istringstream lines(test::output_of(command));
    std::set<std::string> answers;
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty()) answers.insert(line);
    }
    return answers;
}

std::set<std::string> spellings(std::span<const Flag> flags) {
    std::set<std::string> all;
    for (const Flag& flag : flags) {
        all.insert("--" + std::string(flag.long_name));
        if (!flag.short_name.empty()) all.insert("-" + std::string(flag.short_name));
    }
    return all;
}

TEST(Completions, OfBashOfferTheVerbs) {
    std::set<std::string> expected = spellings(program_flags());
    expected.insert("help");
    for (const Verb& verb : all_verbs()) expected.emplace(verb.name);
    EXPECT_EQ(bash_answers({"bobbin", ""}), expected);
    EXPECT_EQ(bash_answers({"bobbin", "rec"}), std::set<std::string>{"record"});
}

TEST(Completions, OfBashOfferExactlyTheFlagsOfAVerb) {
    for (const Verb& verb : all_verbs()) {
        std::set<std::string> expected = spellings(verb.flags);
        if (verb.takes_command) expected.insert("--");
        EXPECT_EQ(bash_answers({"bobbin", std::string(verb.name), "-"}), expected) << verb.name;
    }
}

TEST(Completions, OfBashFollowTheCommandOfRecord) {
    EXPECT_THAT(bash_answers({"bobbin", "record", "-F", "99", "slee"}), Contains("sleep"));
    EXPECT_THAT(bash_answers({"bobbin", "record", "--", "slee"}), Contains("sleep"));
    EXPECT_THAT(bash_answers({"bobbin", "record", "-F", "m"}), Contains("max"));
    EXPECT_EQ(bash_answers({"bobbin", "record", "sleep", "--fre"}), std::set<std::string>{});
}

}  // namespace
}  // namespace bobbin::cli
