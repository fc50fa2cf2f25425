// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/verbs.h"
#include "support/temporary_directory.h"

namespace bobbin::cli {
namespace {

using config::FrameScope;
using config::RecordConfig;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Words = std::vector<std::string>;

// Runs in a directory of its own, because the default output is profile.pb.gz in the present one.
// Processes 10 and 20 exist; 11 is a thread of 10.
class CommandLine : public testing::Test {
protected:
    CommandLine() : before_(std::filesystem::current_path()) {
        std::filesystem::current_path(directory_.path());
        surroundings_.max_sample_rate_hz = 50'000;
        surroundings_.process_of = [](pid_t pid) -> std::optional<pid_t> {
            if (pid == 11) return 10;
            if (pid == 10 || pid == 20) return pid;
            return std::nullopt;
        };
        // Directories stand for cgroups: names are found in them as in the real hierarchy.
        surroundings_.cgroup_tree = [this] {
            return sampler::CgroupTree::from_mounts(
                "1 1 0:1 / " + (directory_.path() / "cgroup").string() + " rw - cgroup2 x rw\n");
        };
    }
    std::uint64_t make_cgroup(const std::string& path) {
        const auto place = directory_.path() / "cgroup" / path;
        std::filesystem::create_directories(place);
        struct stat directory{};
        EXPECT_EQ(::stat(place.c_str(), &directory), 0);
        return directory.st_ino;
    }
    ~CommandLine() override { std::filesystem::current_path(before_); }

    Understood understood(const Words& arguments) { return understand(arguments, surroundings_); }

    RecordConfig config_of(const Words& arguments) {
        Understood result = understood(arguments);
        if (const auto* error = std::get_if<UserError>(&result)) {
            ADD_FAILURE() << testing::PrintToString(arguments) << "\n" << describe(*error);
            return {};
        }
        return std::get<RecordConfig>(std::move(result));
    }

    UserError error_of(const Words& arguments) {
        Understood result = understood(arguments);
        if (const auto* error = std::get_if<UserError>(&result)) return *error;
        ADD_FAILURE() << "was accepted: " << testing::PrintToString(arguments);
        return {};
    }

    void expect_usage_error(const Words& arguments, const std::string& mentioned) {
        const UserError error = error_of(arguments);
        EXPECT_EQ(error.exit_status, 2) << testing::PrintToString(arguments);
        EXPECT_THAT(describe(error), HasSubstr(mentioned)) << testing::PrintToString(arguments);
    }

    test::TemporaryDirectory directory_;
    std::filesystem::path before_;
    Surroundings surroundings_;
};

TEST_F(CommandLine, RecordsTheWholeMachineWhenNothingIsNamed) {
    const RecordConfig config = config_of({"record"});
    EXPECT_EQ(config.frequency_hz, 99U);
    EXPECT_EQ(config.duration, std::nullopt);
    EXPECT_TRUE(config.whole_machine);
    EXPECT_THAT(config.pids, IsEmpty());
    EXPECT_THAT(config.command, IsEmpty());
    EXPECT_EQ(config.scope, FrameScope::kUserAndKernel);
    EXPECT_FALSE(config.quiet);
    ASSERT_EQ(config.outputs.size(), 2U);
    EXPECT_EQ(config.outputs[0].path(), "profile.pb.gz");
    EXPECT_EQ(config.outputs[1].path(), "profile.html");
}

TEST_F(CommandLine, TakesFlagsInEverySpelling) {
    const std::vector<Words> spellings{
        {"record", "-F", "499", "-d", "1m30s", "-q", "-U"},
        {"record", "-F499", "-d1m30s", "-qU"},
        {"record", "--frequency", "499", "--duration", "1m30s", "--quiet", "--user-only"},
        {"record", "--frequency=499", "--duration=1m30s", "--quiet", "--user-only"},
        {"record", "-F", "1", "-F", "499", "-d", "5", "-d", "90", "-U", "-U", "-q"}};
    for (const Words& words : spellings) {
        SCOPED_TRACE(testing::PrintToString(words));
        const RecordConfig config = config_of(words);
        EXPECT_EQ(config.frequency_hz, 499U);
        EXPECT_EQ(config.duration, std::chrono::seconds(90));
        EXPECT_EQ(config.scope, FrameScope::kUserOnly);
        EXPECT_TRUE(config.quiet);
    }
    EXPECT_EQ(config_of({"record", "-K"}).scope, FrameScope::kKernelOnly);
}

TEST_F(CommandLine, GivesTheCommandEverythingAfterTheSeparator) {
    const RecordConfig config =
        config_of({"record", "-F", "10", "--", "sh", "-F", "a b", "--", "-o", ""});
    EXPECT_THAT(config.command, ElementsAre("sh", "-F", "a b", "--", "-o", ""));
    EXPECT_EQ(config.frequency_hz, 10U);
    EXPECT_FALSE(config.whole_machine);
    EXPECT_THAT(config_of({"record", "--", "-weird", "x"}).command, ElementsAre("-weird", "x"));
    EXPECT_THAT(config_of({"record", "++", "x"}).command, ElementsAre("++", "x"));
}

TEST_F(CommandLine, BeginsTheCommandAtTheFirstPlainWord) {
    const RecordConfig config =
        config_of({"record", "-F", "10", "sleep", "-F", "5", "--", "--help"});
    EXPECT_THAT(config.command, ElementsAre("sleep", "-F", "5", "--", "--help"));
    EXPECT_EQ(config.frequency_hz, 10U);
}

TEST_F(CommandLine, DoesNotTakeAnUnknownFlagForTheCommand) {
    for (const Words& words : std::vector<Words>{{"record", "--nope"},
                                                 {"record", "--nope", "sleep", "1"},
                                                 {"record", "--nope", "--", "sleep", "1"},
                                                 {"record", "-F", "10", "--nope", "-q", "sleep"},
                                                 {"record", "-qz", "sleep"},
                                                 {"record", "-z", "sleep"}}) {
        expect_usage_error(words, "unknown flag");
    }
}

TEST_F(CommandLine, NamesTheNearestFlagAndVerb) {
    expect_usage_error({"record", "--frequncy", "99"}, "did you mean --frequency?");
    expect_usage_error({"record", "--kernel_only"}, "did you mean --kernel-only?");
    expect_usage_error({"record", "--ouptut=x.pb.gz"}, "did you mean --output?");
    expect_usage_error({"recrod"}, "did you mean record?");
    expect_usage_error({"docter"}, "did you mean doctor?");
    expect_usage_error({"object_info", "x"}, "did you mean object-info?");
    expect_usage_error({"--verison"}, "did you mean --version?");
    expect_usage_error({"help", "recor"}, "did you mean record?");
}

TEST_F(CommandLine, RefusesWhatLaterReleasesWillHave) {
    for (const char* verb : {"dump", "completions", "version"}) {
        expect_usage_error({verb}, std::string("unknown verb ") + verb);
    }
    for (const char* flag : {"--off-cpu", "--open", "-c", "-e", "-f"}) {
        expect_usage_error({"record", flag, "x"}, std::string("unknown flag ") + flag);
    }
}

TEST_F(CommandLine, SaysThatOneStandardOutputIsNotEnough) {
    EXPECT_TRUE(config_of({"record", "--json"}).summary_as_json);
    expect_usage_error({"record", "--json", "-o", "-"}, "both go to standard output");
}

TEST_F(CommandLine, ReadsWhatTopIsToShow) {
    const auto top =
        std::get<TopCommand>(understood({"top", "--interval", "500ms", "-F", "499", "-U",
                                         "--max-memory", "64M", "--demangle", "full"}));
    EXPECT_EQ(top.sampling.name_style, config::NameStyle::kFull);
    EXPECT_EQ(top.interval, std::chrono::milliseconds{500});
    EXPECT_EQ(top.sampling.frequency_hz, 499U);
    EXPECT_EQ(top.sampling.scope, config::FrameScope::kUserOnly);
    EXPECT_EQ(top.sampling.max_memory_bytes, 64ULL << 20);
    EXPECT_TRUE(top.sampling.whole_machine);
    const auto of_threads = std::get<TopCommand>(understood({"top", "--comm", "web*"}));
    EXPECT_FALSE(of_threads.sampling.whole_machine);
    EXPECT_EQ(of_threads.interval, std::chrono::seconds{1});
}

TEST_F(CommandLine, RefusesWhatTopCannotDo) {
    expect_usage_error({"top", "--interval", "199ms"}, "200ms to 10s");
    expect_usage_error({"top", "--interval", "11s"}, "200ms to 10s");
    expect_usage_error({"top", "--interval", "often"}, "not a duration");
    expect_usage_error({"top", "-U", "-K"}, "run:  bobbin top --help");
    expect_usage_error({"top", "-p", "x"}, "run:  bobbin top --help");
    expect_usage_error({"top", "-o", "x.html"}, "unknown flag");
    EXPECT_EQ(error_of({"top", "--", "make", "all"}).run, "sudo bobbin record -- make all");
}

TEST_F(CommandLine, ChecksNumbersBeforeAnythingIsRecorded) {
    expect_usage_error({"record", "-F", "0"}, "1 to 10000");
    expect_usage_error({"record", "-F", "10001"}, "1 to 10000");
    expect_usage_error({"record", "-F", "often"}, "often");
    expect_usage_error({"record", "-F", "-5"}, "-F -5");
    expect_usage_error({"record", "-F", ""}, "-F ''");
    expect_usage_error({"record", "-d", "ten"}, "ten");
    expect_usage_error({"record", "-d", "0"}, "no time");
    expect_usage_error({"record", "-p", "x"}, "-p x");
    expect_usage_error({"record", "-p", "10,,20"}, "not a process id");
    expect_usage_error({"record", "-p", "0"}, "not a process id");
    expect_usage_error({"record", "-p", "-10"}, "not a process id");
    expect_usage_error({"record", "-p", "4194305"}, "4194305");
    expect_usage_error({"record", "-F"}, "-F needs a value");
    expect_usage_error({"record", "-q", "--output"}, "--output needs a value");
}

TEST_F(CommandLine, TakesTheKernelsLimitForMax) {
    surroundings_.max_sample_rate_hz = 7000;
    EXPECT_EQ(config_of({"record", "-F", "max"}).frequency_hz, 7000U);
    surroundings_.max_sample_rate_hz = 100'000;
    EXPECT_EQ(config_of({"record", "-F", "max"}).frequency_hz, 10'000U);
    surroundings_.max_sample_rate_hz = std::nullopt;
    EXPECT_EQ(config_of({"record", "-F", "10000"}).frequency_hz, 10'000U);
}

TEST_F(CommandLine, RefusesAFrequencyAboveTheKernelsAndNamesTheSysctl) {
    surroundings_.max_sample_rate_hz = 400;
    const UserError error = error_of({"record", "-F", "499"});
    EXPECT_EQ(error.exit_status, 2);
    EXPECT_THAT(error.why, HasSubstr("kernel.perf_event_max_sample_rate is 400"));
    EXPECT_EQ(error.run, "sudo sysctl kernel.perf_event_max_sample_rate=499");
    EXPECT_EQ(config_of({"record", "-F", "400"}).frequency_hz, 400U);
    surroundings_.max_sample_rate_hz = 50;
    EXPECT_EQ(error_of({"record"}).exit_status, 2) << "the default is 99";
}

TEST_F(CommandLine, CollectsProcessesFromListsAndRepeats) {
    const RecordConfig config = config_of({"record", "-p", "20,10", "-p", "20"});
    EXPECT_THAT(config.pids, ElementsAre(10, 20));
    EXPECT_FALSE(config.whole_machine);
}

TEST_F(CommandLine, RefusesProcessesThatAreNotThere) {
    const UserError error = error_of({"record", "-p", "10,4242"});
    EXPECT_EQ(error.exit_status, 2);
    EXPECT_EQ(error.what, "there is no process 4242");
    EXPECT_FALSE(error.why.empty());
    EXPECT_FALSE(error.run.empty());
}

TEST_F(CommandLine, SaysWhichProcessAThreadBelongsTo) {
    const UserError error = error_of({"record", "-p", "11"});
    EXPECT_EQ(error.exit_status, 2);
    EXPECT_EQ(error.what, "11 is a thread of process 10");
    EXPECT_EQ(error.run, "bobbin record -p 10");
}

// Targets are OR-ed.
TEST_F(CommandLine, TakesTheWholeMachineBesideACommandWithAll) {
    const RecordConfig beside = config_of({"record", "-a", "--", "make"});
    EXPECT_TRUE(beside.whole_machine);
    EXPECT_THAT(beside.command, ElementsAre("make"));
    const RecordConfig with_pid =
        config_of({"record", "-a", "-p", "10", "-t", "11", "--comm", "x"});
    EXPECT_TRUE(with_pid.whole_machine);
    EXPECT_FALSE(with_pid.has_targets());
}

TEST_F(CommandLine, CombinesTargetsAndACommand) {
    const std::uint64_t nginx = make_cgroup("system.slice/nginx.service");
    const RecordConfig config = config_of({"record", "-p", "10", "-t", "11", "-u", "nginx",
                                           "--comm", "kworker*", "--comm=a b", "--", "make"});
    EXPECT_FALSE(config.whole_machine);
    EXPECT_THAT(config.pids, ElementsAre(10));
    EXPECT_THAT(config.tids, ElementsAre(11));
    EXPECT_THAT(config.cgroup_ids, ElementsAre(nginx));
    EXPECT_THAT(config.comms, ElementsAre("a b", "kworker*"));
    EXPECT_THAT(config.command, ElementsAre("make"));
}

TEST_F(CommandLine, TakesThreadsOfAnyProcess) {
    EXPECT_THAT(config_of({"record", "-t", "20,11", "--tid", "11"}).tids, ElementsAre(11, 20));
    const UserError error = error_of({"record", "-t", "4242"});
    EXPECT_EQ(error.exit_status, 2);
    EXPECT_EQ(error.what, "there is no thread 4242");
    expect_usage_error({"record", "-t", "0"}, "not a thread id");
    expect_usage_error({"record", "-t", "11,"}, "not a thread id");
}

TEST_F(CommandLine, FindsUnitsByTheNameOfTheirCgroup) {
    const std::uint64_t nginx = make_cgroup("system.slice/nginx.service");
    const std::uint64_t scope = make_cgroup("user.slice/user-0.slice/session-2.scope");
    const std::uint64_t one = make_cgroup("user.slice/user-1.slice/a.service");
    const std::uint64_t two = make_cgroup("user.slice/user-2.slice/a.service");
    EXPECT_THAT(config_of({"record", "-u", "nginx"}).cgroup_ids, ElementsAre(nginx));
    EXPECT_THAT(config_of({"record", "--unit=nginx.service"}).cgroup_ids, ElementsAre(nginx));
    EXPECT_THAT(config_of({"record", "-u", "session-2.scope"}).cgroup_ids, ElementsAre(scope));
    EXPECT_THAT(config_of({"record", "-u", "a", "-u", "a"}).cgroup_ids,
                testing::UnorderedElementsAre(one, two));
}

TEST_F(CommandLine, RefusesUnitsThatDoNotRun) {
    make_cgroup("system.slice/nginx.service");
    const UserError error = error_of({"record", "-u", "ngin"});
    EXPECT_EQ(error.exit_status, 2);
    EXPECT_EQ(error.what, "unit ngin.service does not run");
    EXPECT_THAT(error.why, HasSubstr("cgroup"));
    EXPECT_EQ(error.run, "systemctl status ngin.service");
    EXPECT_EQ(error_of({"record", "-u", "a b;c"}).run, "systemctl status 'a b;c.service'");
    expect_usage_error({"record", "-u", ""}, "not a unit's name");
    expect_usage_error({"record", "-u", "system.slice/nginx.service"}, "-G takes paths");
}

TEST_F(CommandLine, FindsContainersByTheBeginningOfTheirId) {
    const std::string id(60, 'a');
    const std::uint64_t first = make_cgroup("docker/" + id + "0000");
    const std::uint64_t second = make_cgroup("system.slice/docker-" + id + "0011.scope");
    const std::uint64_t web = make_cgroup("machine.slice/systemd-nspawn@web.service");
    const std::uint64_t web2 = make_cgroup("lxc.payload.web-2");
    EXPECT_THAT(config_of({"record", "--container", id + "00"}).cgroup_ids,
                testing::UnorderedElementsAre(first, second));
    EXPECT_THAT(config_of({"record", "--container", id + "001"}).cgroup_ids, ElementsAre(second));
    EXPECT_THAT(config_of({"record", "--container", "web"}).cgroup_ids, ElementsAre(web));
    EXPECT_THAT(config_of({"record", "--container", "we"}).cgroup_ids,
                testing::UnorderedElementsAre(web, web2));
    const UserError error = error_of({"record", "--container", "bb"});
    EXPECT_EQ(error.exit_status, 2);
    EXPECT_EQ(error.what, "no container bb runs");
    expect_usage_error({"record", "--container", ""}, "needs an id");
}

TEST_F(CommandLine, RefusesCgroupsThatAreNotThere) {
    make_cgroup("system.slice");
    const UserError error = error_of({"record", "-G", "missing.slice"});
    EXPECT_EQ(error.exit_status, 2);
    EXPECT_EQ(error.what, "there is no cgroup missing.slice");
    EXPECT_FALSE(error.run.empty());
    expect_usage_error({"record", "-G", "system.slice"}, "is no cgroup below");
    surroundings_.cgroup_tree = [] { return sampler::CgroupTree::from_mounts(""); };
    for (const char* const flag : {"-G", "-u", "--container"}) {
        expect_usage_error({"record", flag, "x"}, "need cgroups of version 2");
    }
}

// Debian 10 and RHEL 8 boot so.
TEST_F(CommandLine, SaysWhatToDoWhereOnlyCgroupsOfVersion1Are) {
    surroundings_.cgroup_tree = [] {
        return sampler::CgroupTree::from_mounts(
            "33 32 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    };
    for (const char* const flag : {"-G", "-u", "--container"}) {
        const UserError error = error_of({"record", flag, "x"});
        EXPECT_EQ(error.what, "-G, -u and --container need cgroups of version 2");
        EXPECT_NE(error.why.find("only cgroups of version 1"), std::string::npos) << error.why;
        EXPECT_NE(error.why.find("-p"), std::string::npos) << error.why;
        EXPECT_FALSE(error.run.empty());
    }
}

TEST_F(CommandLine, RefusesNamesThatEveryThreadHas) {
    expect_usage_error({"record", "--comm", ""}, "not a thread's name");
    expect_usage_error({"record", "--comm", "*"}, "-a records the whole machine");
}

TEST_F(CommandLine, ReadsHowNamesAreWritten) {
    EXPECT_EQ(config_of({"record"}).name_style, config::NameStyle::kSimplified);
    EXPECT_EQ(config_of({"record", "--demangle", "none"}).name_style, config::NameStyle::kMangled);
    EXPECT_EQ(config_of({"record", "--demangle=full"}).name_style, config::NameStyle::kFull);
    EXPECT_EQ(config_of({"record", "--demangle=full", "--demangle=simplified"}).name_style,
              config::NameStyle::kSimplified);
    expect_usage_error({"record", "--demangle", "some"}, "none, simplified or full");
}

TEST_F(CommandLine, AsksServersOnlyWhenToldTo) {
    expect_usage_error({"record", "--debuginfod"}, "DEBUGINFOD_URLS is not set");
    surroundings_.debuginfod_urls = "http://one http://two";
    EXPECT_EQ(config_of({"record"}).debuginfod_urls, "");
    EXPECT_EQ(config_of({"record", "--debuginfod"}).debuginfod_urls, "http://one http://two");
}

TEST_F(CommandLine, ReadsBudgets) {
    const RecordConfig standard = config_of({"record"});
    EXPECT_EQ(standard.max_unwind_memory_bytes, 256U << 20);
    EXPECT_EQ(standard.max_memory_bytes, 512U << 20);
    const RecordConfig config =
        config_of({"record", "--max-unwind-memory", "64M", "--max-memory=1073741824"});
    EXPECT_EQ(config.max_unwind_memory_bytes, 64U << 20);
    EXPECT_EQ(config.max_memory_bytes, 1U << 30);
    expect_usage_error({"record", "--max-memory", "lots"}, "--max-memory lots: not a size");
    expect_usage_error({"record", "--max-memory", "0"}, "at least 64M");
    expect_usage_error({"record", "--max-unwind-memory", "4194303"}, "at least 4M");
    EXPECT_EQ(config_of({"record", "--max-unwind-memory", "4M"}).max_unwind_memory_bytes, 4U << 20);
}

TEST_F(CommandLine, RefusesWhatExcludesEachOther) {
    expect_usage_error({"record", "-U", "-K"}, "-U and -K");
    // A script whose variable is empty would otherwise record until Ctrl-C.
    expect_usage_error({"record", "--"}, "no command after --");
}

TEST_F(CommandLine, PreparesEveryOutput) {
    const RecordConfig config =
        config_of({"record", "-o", "a.pb.gz", "--output=b.folded", "-oc.pprof"});
    ASSERT_EQ(config.outputs.size(), 3U);
    EXPECT_EQ(config.outputs[0].path(), "a.pb.gz");
    EXPECT_EQ(config.outputs[0].format(), output::Format::kPprof);
    EXPECT_EQ(config.outputs[1].path(), "b.folded");
    EXPECT_EQ(config.outputs[1].format(), output::Format::kFolded);
    EXPECT_EQ(config.outputs[2].path(), "c.pprof");
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path())) << "only recording makes files";
}

TEST_F(CommandLine, TakesOddFileNamesAsTheyAre) {
    const RecordConfig config = config_of({"record", "-o", "[a,b].pb.gz", "-o", "a b=c.folded"});
    ASSERT_EQ(config.outputs.size(), 2U);
    EXPECT_EQ(config.outputs[0].path(), "[a,b].pb.gz");
    EXPECT_EQ(config.outputs[1].path(), "a b=c.folded");
}

TEST_F(CommandLine, RefusesOutputsThatCannotBeWritten) {
    expect_usage_error({"record", "-o", "profile.docx"}, ".pb.gz");
    expect_usage_error({"record", "-o", "[]"}, ".folded");
    expect_usage_error({"record", "-o", "a.pb.gz", "-o", "a.pb.gz"}, "twice");
    const UserError error = error_of({"record", "-o", "missing/profile.pb.gz"});
    EXPECT_EQ(error.exit_status, 1);
    EXPECT_THAT(error.what, HasSubstr("missing/profile.pb.gz"));
    EXPECT_THAT(error.why, HasSubstr("No such file or directory"));
}

TEST_F(CommandLine, ReadsTheOtherVerbs) {
    EXPECT_FALSE(std::get<DoctorCommand>(understood({"doctor"})).json);
    EXPECT_TRUE(std::get<DoctorCommand>(understood({"doctor", "--json"})).json);

    const auto info = std::get<ObjectInfoCommand>(understood({"object-info", "--json", "/bin/ls"}));
    EXPECT_EQ(info.path, "/bin/ls");
    EXPECT_TRUE(info.json);
    EXPECT_EQ(std::get<ObjectInfoCommand>(understood({"object-info", "--", "--json"})).path,
              "--json");

    const auto rows = std::get<ShowUnwindCommand>(understood({"show-unwind", "/bin/ls"}));
    EXPECT_EQ(rows.path, "/bin/ls");
    EXPECT_EQ(rows.pc_file_vaddr, std::nullopt);
    const auto hex = understood({"show-unwind", "/bin/ls", "--pc", "0x401a0F"});
    EXPECT_EQ(std::get<ShowUnwindCommand>(hex).pc_file_vaddr, 0x401a0fU);
    const auto decimal = understood({"show-unwind", "--pc=4198400", "/bin/ls"});
    EXPECT_EQ(std::get<ShowUnwindCommand>(decimal).pc_file_vaddr, 4198400U);
}

TEST_F(CommandLine, RefusesWrongArgumentsOfTheOtherVerbs) {
    expect_usage_error({}, "a verb is missing");
    expect_usage_error({""}, "unknown verb");
    expect_usage_error({"doctor", "me"}, "no arguments");
    expect_usage_error({"doctor", "--josn"}, "did you mean --json?");
    expect_usage_error({"doctor", "--json=yes"}, "json");
    expect_usage_error({"object-info"}, "needs a file");
    expect_usage_error({"object-info", "a", "b"}, "takes one file");
    expect_usage_error({"show-unwind", "a", "--pc", "1f40"}, "1f40");
    expect_usage_error({"show-unwind", "a", "--pc", "0x"}, "not an address");
    expect_usage_error({"show-unwind", "a", "--pc", "0x10000000000000000"}, "not an address");
    expect_usage_error({"-F", "99", "record"}, "a verb comes first");
}

TEST_F(CommandLine, AnswersHelpAndVersion) {
    EXPECT_THAT(std::get<Answer>(understood({"--version"})).text,
                testing::MatchesRegex("bobbin [0-9]+\\.[0-9]+\\.[0-9]+\n"));
    EXPECT_EQ(std::get<Answer>(understood({"-V"})).text,
              std::get<Answer>(understood({"--version"})).text);
    for (const Words& words : std::vector<Words>{{"--help"}, {"-h"}, {"help"}}) {
        EXPECT_EQ(std::get<Answer>(understood(words)).text, help_text());
    }
    for (const Verb& verb : all_verbs()) {
        const std::string name(verb.name);
        for (const Words& words :
             std::vector<Words>{{name, "--help"}, {"help", name}, {name, "-h"}}) {
            EXPECT_EQ(std::get<Answer>(understood(words)).text, help_text(verb)) << name;
        }
    }
    EXPECT_THAT(config_of({"record", "sleep", "--help"}).command, ElementsAre("sleep", "--help"));
}

TEST(ParseCommandLine, PrintsErrorsToStandardErrorOnly) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const char* const arguments[] = {"bobbin", "recrod"};
    const Command command = parse_command_line(2, arguments);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "bobbin: unknown verb recrod\ndid you mean record?\nrun:  bobbin --help\n");
    EXPECT_EQ(std::get<Finished>(command).exit_status, 2);
}

TEST(ParseCommandLine, PrintsHelpToStandardOutputOnly) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const char* const arguments[] = {"bobbin", "help", "doctor"};
    const Command command = parse_command_line(3, arguments);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), help_text(*find_verb("doctor")));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(std::get<Finished>(command).exit_status, 0);
}

TEST(ThisMachine, KnowsItsProcessesAndThreads) {
    const Surroundings machine = this_machine({});
    EXPECT_EQ(machine.process_of(::getpid()), ::getpid());
    EXPECT_EQ(machine.process_of(4'194'305), std::nullopt);
    std::optional<pid_t> process_of_thread;
    std::thread([&] {
        const auto tid = static_cast<pid_t>(::syscall(SYS_gettid));
        process_of_thread = machine.process_of(tid);
    }).join();
    EXPECT_EQ(process_of_thread, ::getpid());
}

TEST(HelpText, NamesEveryVerbAndFlag) {
    const std::string help = help_text();
    for (const Verb& verb : all_verbs()) {
        EXPECT_THAT(help, HasSubstr("\n  " + std::string(verb.name) + " "));
        for (const Flag& flag : verb.flags) {
            EXPECT_THAT(help_text(verb), HasSubstr("--" + std::string(flag.long_name)));
        }
    }
}

TEST(HelpText, FitsAHundredColumns) {
    std::vector<std::string> texts{help_text()};
    for (const Verb& verb : all_verbs()) texts.push_back(help_text(verb));
    for (const std::string& text : texts) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
    }
}

}  // namespace
}  // namespace bobbin::cli
