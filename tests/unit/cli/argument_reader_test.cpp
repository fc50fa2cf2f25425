// SPDX-License-Identifier: Apache-2.0
#include "cli/argument_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"

namespace bobbin::cli {
namespace {

UserError error_of(const std::vector<std::string>& words) {
    const Understood understood = understand(words, {});
    if (const auto* error = std::get_if<UserError>(&understood)) return *error;
    ADD_FAILURE() << "was accepted: " << testing::PrintToString(words);
    return {};
}

TEST(ArgumentReader, TellsAWrongValueInTheSameWordsWhateverTheVerb) {
    EXPECT_EQ(error_of({"record", "-d", "ten"}).what, "-d ten: not a duration");
    EXPECT_EQ(error_of({"ctl", "boost", "--duration", "ten"}).what, "-d ten: not a duration");
    EXPECT_EQ(error_of({"top", "--interval", "ten"}).what, "--interval ten: not a duration");
    EXPECT_EQ(error_of({"record", "-F", "0"}).what, "-F 0: not a frequency");
    EXPECT_EQ(error_of({"ctl", "boost", "-F", "0"}).what, "-F 0: not a frequency");
    EXPECT_EQ(error_of({"report", "a", "--top", "all"}).what, "--top all: not a number");
    EXPECT_EQ(error_of({"diff", "a", "b", "--top", "all"}).what, "--top all: not a number");
    EXPECT_EQ(error_of({"query", "--top", "all"}).what, "--top all: not a number");
    EXPECT_EQ(error_of({"view", "a", "--port", "65536"}).what, "--port 65536: not a port");
}

TEST(ArgumentReader, ListsWhatAValueMayBe) {
    EXPECT_EQ(error_of({"report", "a", "--sort", "name"}).why, "it takes self or total");
    EXPECT_EQ(error_of({"diff", "a", "b", "--on", "name"}).why, "it takes self or total");
    const std::string by = error_of({"query", "--by", "colour"}).why;
    EXPECT_TRUE(by.starts_with("it takes function, line, ")) << by;
    EXPECT_TRUE(by.ends_with(", container or label:KEY")) << by;
}

TEST(ArgumentReader, AsksForTheFile) {
    for (const char* verb :
         {"report", "explain", "convert", "push", "object-info", "show-unwind"}) {
        EXPECT_EQ(error_of({verb}).what, std::string(verb) + " needs a file");
    }
    for (const char* verb : {"report", "explain", "push", "object-info", "show-unwind"}) {
        EXPECT_EQ(error_of({verb, "a", "b"}).what, std::string(verb) + " takes one file");
    }
    for (const char* verb : {"daemon", "doctor"}) {
        EXPECT_EQ(error_of({verb, "a"}).what, std::string(verb) + " takes no arguments");
    }
}

TEST(ArgumentReader, NamesTheVerbWhoseHelpHelps) {
    for (const char* verb : {"record", "top"}) {
        EXPECT_EQ(error_of({verb, "-p", "x"}).run, std::string("bobbin ") + verb + " --help");
    }
}

TEST(ArgumentReader, TellsTheFirstMistakeAlone) {
    const UserError error = error_of({"ctl", "snapshot", "-d", "ten", "-o", "missing/x.html"});
    EXPECT_EQ(error.what, "ctl snapshot takes no --duration");
    EXPECT_EQ(error.why, "it belongs to ctl boost");
    EXPECT_EQ(error_of({"query", "--list", "-o", "x.html", "--by", "colour"}).what,
              "--list and -o exclude each other");
}

}  // namespace
}  // namespace bobbin::cli
