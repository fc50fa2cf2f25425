// SPDX-License-Identifier: Apache-2.0
#include "config/daemon_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bobbin::config {

// What googletest prints of them.
void PrintTo(const ConfigError& error, std::ostream* stream) {
    *stream << error.place << ": " << error.what << "\n" << error.why;
}

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

DaemonConfig parsed(std::string_view text) {
    const auto config = parse_daemon_config(text, "bobbin.toml");
    if (!config) {
        ADD_FAILURE() << testing::PrintToString(config.error());
        return {};
    }
    return *config;
}

ConfigError mistake_in(std::string_view text) {
    const auto config = parse_daemon_config(text, "bobbin.toml");
    EXPECT_FALSE(config) << text;
    return config ? ConfigError{} : config.error();
}

std::filesystem::path packaged_config() {
    return std::filesystem::path(__FILE__).parent_path() / "../../../packaging/bobbin.toml";
}

std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ParseDaemonConfig, TakesDefaultsForWhatIsNotThere) {
    const DaemonConfig config = parsed("");
    EXPECT_EQ(config.profile.frequency_hz, 19U);
    EXPECT_EQ(config.store.segment, 60s);
    EXPECT_EQ(config.store.retention, 168h);
    EXPECT_EQ(config.http.listen, "unix:/run/bobbin/bobbin.sock");
    EXPECT_TRUE(config.symbols.names);
    EXPECT_THAT(config.exports, IsEmpty());
}

TEST(ParseDaemonConfig, ReadsEveryKey) {
    const DaemonConfig config = parsed(R"(
[profile]
frequency = 97
units = ["nginx.service", "postgresql"]
comms = ["java*"]
scope = "user"
[store]
path = "/srv/profiles"
segment = "30s"
retention = "1d12h"
max_size = "512M"
[budget]
cpu_percent = 0.5
memory = "128M"
unwind_memory = "16M"
action = "pause"
[symbols]
names = false
demangle = "full"
debuginfod = true
[http]
listen = "127.0.0.1:7273"
[labels]
host = "%h"
env = "prod"
[[export]]
type = "pyroscope"
url = "http://pyroscope:4040"
interval = "90s"
queue = "16M"
bearer_file = "/etc/bobbin/token"
headers = { X-Scope-OrgID = "team a" }
[[export]]
type = "s3"
url = "s3://profiles/here"
region = "eu-central-1"
credentials_file = "/etc/bobbin/s3"
)");
    EXPECT_EQ(config.profile.frequency_hz, 97U);
    EXPECT_THAT(config.profile.units, ElementsAre("nginx.service", "postgresql"));
    EXPECT_THAT(config.profile.comms, ElementsAre("java*"));
    EXPECT_EQ(config.profile.scope, FrameScope::kUserOnly);
    EXPECT_EQ(config.store.path, "/srv/profiles");
    EXPECT_EQ(config.store.segment, 30s);
    EXPECT_EQ(config.store.retention, 36h);
    EXPECT_EQ(config.store.max_bytes, 536'870'912U);
    EXPECT_DOUBLE_EQ(config.budget.cpu_percent, 0.5);
    EXPECT_EQ(config.budget.memory_bytes, 134'217'728U);
    EXPECT_EQ(config.budget.unwind_memory_bytes, 16'777'216U);
    EXPECT_EQ(config.budget.action, DaemonConfig::OverBudget::kPause);
    EXPECT_FALSE(config.symbols.names);
    EXPECT_EQ(config.symbols.style, NameStyle::kFull);
    EXPECT_TRUE(config.symbols.debuginfod);
    EXPECT_EQ(config.http.listen, "127.0.0.1:7273");
    EXPECT_THAT(config.labels, ElementsAre(Pair("env", "prod"), Pair("host", "%h")));

    ASSERT_EQ(config.exports.size(), 2U);
    const DaemonConfig::Export& pyroscope = config.exports[0];
    EXPECT_EQ(pyroscope.kind, DaemonConfig::Export::Kind::kPyroscope);
    EXPECT_EQ(pyroscope.url, "http://pyroscope:4040");
    EXPECT_EQ(pyroscope.interval, 90s);
    EXPECT_EQ(pyroscope.queue_bytes, 16'777'216U);
    EXPECT_EQ(pyroscope.bearer_file, "/etc/bobbin/token");
    EXPECT_THAT(pyroscope.headers, ElementsAre(Pair("X-Scope-OrgID", "team a")));
    const DaemonConfig::Export& s3 = config.exports[1];
    EXPECT_EQ(s3.kind, DaemonConfig::Export::Kind::kS3);
    EXPECT_EQ(s3.url, "s3://profiles/here");
    EXPECT_EQ(s3.region, "eu-central-1");
    EXPECT_EQ(s3.credentials_file, "/etc/bobbin/s3");
}

TEST(ParseDaemonConfig, TakesAWholeNumberForANumber) {
    EXPECT_DOUBLE_EQ(parsed("budget.cpu_percent = 2").budget.cpu_percent, 2.0);
}

// 60 s and segments of 25 s: three of them.
TEST(ParseDaemonConfig, SendsWholeSegments) {
    const DaemonConfig config = parsed(
        "store.segment = \"25s\"\n[[export]]\ntype = \"otlp\"\nurl = \"https://collector\"\n");
    ASSERT_EQ(config.exports.size(), 1U);
    EXPECT_EQ(config.exports[0].interval, 75s);
    EXPECT_THAT(mistake_in("[[export]]\ntype = \"otlp\"\nurl = \"https://collector\"\n"
                           "interval = \"90s\"\n")
                    .why,
                HasSubstr("60s"));
}

TEST(ParseDaemonConfig, NamesLineColumnAndNearestKey) {
    const ConfigError error = mistake_in("[profile]\n  frequenzy = 19\n");
    EXPECT_EQ(error.place, "bobbin.toml:2:3");
    EXPECT_EQ(error.what, "unknown key profile.frequenzy");
    EXPECT_EQ(error.why, "did you mean frequency?");
}

TEST(ParseDaemonConfig, ListsTheKeysWhenNoneIsNear) {
    EXPECT_EQ(mistake_in("[http]\nport = 80\n").why, "the keys here are listen");
    EXPECT_EQ(mistake_in("\n[nothing]\n").what, "unknown key nothing");
}

// Keys of a table are sorted by name in memory, not by line.
TEST(ParseDaemonConfig, NamesTheFirstMistakeOfTheFile) {
    EXPECT_EQ(mistake_in("[store]\npath = 1\n[profile]\nfrequency = 0\n").place, "bobbin.toml:2:8");
    EXPECT_EQ(mistake_in("[profile]\nzzz = 1\naaa = 1\n").place, "bobbin.toml:2:1");
}

TEST(ParseDaemonConfig, RefusesAnotherTypeThanTheKeyHas) {
    for (const auto& [text, what] : std::vector<std::pair<const char*, const char*>>{
             {"profile.frequency = \"19\"", "profile.frequency is a string"},
             {"profile.frequency = 19.0", "profile.frequency is a number"},
             {"profile.units = \"nginx\"", "profile.units is a string"},
             {"profile.units = [1]", "profile.units has an element that is no name"},
             {"store.segment = 60", "store.segment is a whole number"},
             {"store.max_size = 1000000000", "store.max_size is a whole number"},
             {"symbols.names = 1", "symbols.names is a whole number"},
             {"symbols.names = 2026-11-22", "symbols.names is a date or time"},
             {"labels.a = 1", "labels.a is a whole number"},
             {"store = 1", "store is a whole number"},
             {"labels = []", "labels is an array"},
             {"export = {}", "export is a table"},
             {"export = [1]", "export has a whole number"}}) {
        EXPECT_EQ(mistake_in(text).what, what);
    }
}

TEST(ParseDaemonConfig, RefusesWhatIsOutOfRange) {
    for (const auto& [text, what] : std::vector<std::pair<const char*, const char*>>{
             {"profile.frequency = 0", "profile.frequency = 0"},
             {"profile.frequency = 10001", "profile.frequency = 10001"},
             {"profile.frequency = -1", "profile.frequency = -1"},
             {"budget.cpu_percent = 0", "budget.cpu_percent = 0"},
             {"budget.cpu_percent = 100.5", "budget.cpu_percent = 100.5"},
             {"budget.cpu_percent = nan", "budget.cpu_percent = nan"},
             {"budget.cpu_percent = inf", "budget.cpu_percent = inf"},
             {"budget.memory = \"63M\"", "budget.memory = \"63M\""},
             {"budget.memory = \"all\"", "budget.memory = \"all\""},
             {"budget.unwind_memory = \"3M\"", "budget.unwind_memory = \"3M\""},
             {"budget.action = \"ignore\"", "budget.action = \"ignore\""},
             {"store.segment = \"500ms\"", "store.segment = \"500ms\""},
             {"store.segment = \"2h\"", "store.segment = \"2h\""},
             {"store.segment = \"1s500ms\"", "store.segment = \"1s500ms\""},
             {"store.retention = \"30s\"", "store.retention = \"30s\""},
             {"store.max_size = \"1K\"", "store.max_size = \"1K\""},
             {"store.max_size = \"4096T\"", "store.max_size = \"4096T\""},
             {"store.path = \"profiles\"", "store.path = \"profiles\""},
             {"symbols.demangle = \"simple\"", "symbols.demangle = \"simple\""},
             {"labels.2nd = \"x\"", "labels.2nd = \"x\""}}) {
        EXPECT_EQ(mistake_in(text).what, what);
    }
    EXPECT_EQ(mistake_in("budget.action = \"pouse\"").why, "did you mean pause?");
    EXPECT_EQ(mistake_in("budget.action = \"none\"").why, "it is one of reduce-frequency, pause");
}

TEST(ParseDaemonConfig, ListensOnThisMachineAlone) {
    for (const char* good :
         {"", "unix:/run/x.sock", "127.0.0.1:7273", "127.1.2.3:1", "[::1]:65535"}) {
        EXPECT_EQ(parsed("http.listen = \"" + std::string(good) + "\"").http.listen, good);
    }
    for (const char* bad :
         {"0.0.0.0:7273", "192.168.0.1:7273", "[::]:7273", "localhost:7273", "7273", ":7273",
          "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:80x", "::1:7273", "[::1]",
          "unix:", "unix:run/x.sock", "http://127.0.0.1:7273", " 127.0.0.1:7273"}) {
        EXPECT_EQ(mistake_in("http.listen = \"" + std::string(bad) + "\"").place,
                  "bobbin.toml:1:15")
            << bad;
    }
    // sun_path has room for 107 bytes and a zero: unix(7).
    const std::string longest = "unix:/" + std::string(106, 'x');
    EXPECT_EQ(parsed("http.listen = \"" + longest + "\"").http.listen, longest);
    EXPECT_THAT(mistake_in("http.listen = \"" + longest + "x\"").why, HasSubstr("107"));
}

TEST(ParseDaemonConfig, WantsTypeAndUrlOfAnExport) {
    EXPECT_EQ(mistake_in("[[export]]\nurl = \"http://a\"\n").what, "export.type is missing");
    EXPECT_EQ(mistake_in("[[export]]\ntype = \"parca\"\n").what, "export.url is missing");
    EXPECT_EQ(mistake_in("[[export]]\n").place, "bobbin.toml:1:1");
    for (const char* bad : {"", "pyroscope:4040", "ftp://a", "http://", "http://a b", "s3://a",
                            "http://user:secret@host", "http://a\\n"}) {
        EXPECT_EQ(
            mistake_in("[[export]]\ntype = \"parca\"\nurl = \"" + std::string(bad) + "\"").place,
            "bobbin.toml:3:7")
            << bad;
    }
}

TEST(ParseDaemonConfig, KnowsKeysOfS3OnlyThere) {
    EXPECT_EQ(mistake_in("[[export]]\ntype = \"parca\"\nurl = \"http://a\"\nregion = \"x\"").what,
              "unknown key export.region");
}

// A value with a line break would begin another header: RFC 9112 section 11.1.
TEST(ParseDaemonConfig, RefusesHeadersThatAreMoreThanOne) {
    const std::string above = "[[export]]\ntype = \"parca\"\nurl = \"http://a\"\n";
    EXPECT_EQ(mistake_in(above + "headers = { a = \"b\\r\\nc: d\" }").place, "bobbin.toml:4:17");
    EXPECT_EQ(mistake_in(above + "headers = { \"a b\" = \"c\" }").why,
              "the name of a header has letters, digits and dashes");
}

TEST(ParseDaemonConfig, SaysWhereAFileIsNoToml) {
    const ConfigError error = mistake_in("[profile]\nfrequency == 19\n");
    EXPECT_THAT(error.place, HasSubstr("bobbin.toml:2:"));
    EXPECT_EQ(error.what, "this is not TOML");
    EXPECT_EQ(mistake_in("[profile]\n[profile]\n").what, "this is not TOML");
    EXPECT_EQ(mistake_in(std::string(100'000, '[')).what, "this is not TOML");
    EXPECT_EQ(mistake_in("x = \xff").what, "this is not TOML");
}

TEST(ReadDaemonConfig, SaysWhichFileCannotBeRead) {
    const auto missing = read_daemon_config("/nonexistent/bobbin.toml");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().place, "/nonexistent/bobbin.toml");
    EXPECT_EQ(missing.error().why, "No such file or directory");
    EXPECT_FALSE(read_daemon_config("/"));
    EXPECT_EQ(read_daemon_config("/dev/zero").error().what, "is too large");
}

// Each key of the packaged file with its comment sign taken away: those are the defaults.
TEST(PackagedConfig, SaysTheDefaults) {
    const std::string text = read_text(packaged_config());
    ASSERT_FALSE(text.empty());
    std::string bare;
    bool is_example = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        is_example = is_example || line.starts_with("#[[") || line.starts_with("#[labels]");
        if (is_example) continue;
        bare += line.starts_with("#") && !line.starts_with("# ") ? line.substr(1) : line;
        bare += '\n';
    }
    const DaemonConfig said = parsed(bare);
    const DaemonConfig defaults;
    EXPECT_EQ(said.profile.frequency_hz, defaults.profile.frequency_hz);
    EXPECT_EQ(said.profile.units, defaults.profile.units);
    EXPECT_EQ(said.profile.comms, defaults.profile.comms);
    EXPECT_EQ(said.profile.scope, defaults.profile.scope);
    EXPECT_EQ(said.store.path, defaults.store.path);
    EXPECT_EQ(said.store.segment, defaults.store.segment);
    EXPECT_EQ(said.store.retention, defaults.store.retention);
    EXPECT_EQ(said.store.max_bytes, defaults.store.max_bytes);
    EXPECT_DOUBLE_EQ(said.budget.cpu_percent, defaults.budget.cpu_percent);
    EXPECT_EQ(said.budget.memory_bytes, defaults.budget.memory_bytes);
    EXPECT_EQ(said.budget.unwind_memory_bytes, defaults.budget.unwind_memory_bytes);
    EXPECT_EQ(said.budget.action, defaults.budget.action);
    EXPECT_EQ(said.symbols.names, defaults.symbols.names);
    EXPECT_EQ(said.symbols.style, defaults.symbols.style);
    EXPECT_EQ(said.symbols.debuginfod, defaults.symbols.debuginfod);
    EXPECT_EQ(said.http.listen, defaults.http.listen);
}

TEST(PackagedConfig, IsAllComments) {
    EXPECT_TRUE(read_daemon_config(packaged_config()));
    for (std::istringstream lines(read_text(packaged_config())); lines;) {
        std::string line;
        std::getline(lines, line);
        EXPECT_TRUE(line.empty() || line.starts_with("#") || line.starts_with("[")) << line;
    }
}

// Its examples of labels and exports, too, are what the program takes.
TEST(PackagedConfig, HasExamplesThatWork) {
    std::string bare;
    std::istringstream lines(read_text(packaged_config()));
    for (std::string line; std::getline(lines, line);) {
        bare += line.starts_with("#") && !line.starts_with("# ") ? line.substr(1) : line;
        bare += '\n';
    }
    const DaemonConfig config = parsed(bare);
    EXPECT_FALSE(config.labels.empty());
    EXPECT_FALSE(config.exports.empty());
}

}  // namespace
}  // namespace bobbin::config
