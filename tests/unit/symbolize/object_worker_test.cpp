// SPDX-License-Identifier: Apache-2.0
#include "symbolize/object_worker.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "symbolize/executable_namer.h"
#include "unit/symbolize/built_program.h"
#include "unit/symbolize/worker_kinds.h"

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Reached only where something hangs that must not.
constexpr std::chrono::seconds kGenerous{120};

constexpr const char* kSource =
    "#include <stdlib.h>\n"
    "static inline __attribute__((always_inline)) int square(int x) { return x * rand(); }\n"
    "__attribute__((noinline)) int work(int x) { return square(x) + 1; }\n"
    "int main(void) { return work(2); }\n";

WorkerOptions worker_of_kind(WorkerKind kind) {
    return {.program = BOBBIN_TEST_WORKER, .memory_bytes = kind};
}
WorkerOptions real_worker() { return {.program = BOBBIN_TEST_WORKER}; }

std::uint64_t address_of_work(const std::string& program) {
    return test::find_nm(program, "work").vaddr;
}

ObjectRequest request_for(const test::BuiltProgram& program, std::vector<std::uint64_t> addresses) {
    return {.path = program.path(),
            .addresses = std::move(addresses),
            .time_limit = kGenerous,
            .debug_directories = {}};
}

ObjectWorker::Answer ask(ObjectWorker& worker, const test::BuiltProgram& program,
                         std::chrono::milliseconds patience = kGenerous) {
    const UniqueFd fd = program.open();
    return worker.name(fd.get(), request_for(program, {address_of_work(program.path())}), patience);
}

std::vector<std::string> names_at(const ObjectWorker::Answer& answer) {
    std::vector<std::string> names;
    if (!answer.names) return {"no names: " + answer.loss.reason};
    for (const NamedFrame& frame : answer.names->names.at(0)) names.push_back(frame.system_name);
    return names;
}

std::string status_line(pid_t pid, const std::string& title) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(title + ":\t")) return line.substr(title.size() + 2);
    }
    return "no " + title;
}

class ObjectWorkerTest : public testing::Test {
protected:
    test::BuiltProgram program_{kSource, "a.c", "-O2 -g"};
};

TEST_F(ObjectWorkerTest, NamesWhatThisProcessWould) {
    std::vector<std::uint64_t> addresses;
    const test::NmSymbol work = test::find_nm(program_.path(), "work");
    for (std::uint64_t i = 0; i < work.size_bytes; ++i) addresses.push_back(work.vaddr + i);
    const UniqueFd fd = program_.open();
    ObjectWorker worker(real_worker());
    const auto answer = worker.name(fd.get(), request_for(program_, addresses), kGenerous);
    const auto expected = name_object(fd.get(), program_.path(), addresses);
    ASSERT_TRUE(answer.names) << answer.loss.reason;
    ASSERT_TRUE(expected);
    ASSERT_EQ(answer.names->names.size(), addresses.size());
    bool has_inlined = false;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const auto& frames = answer.names->names[i];
        ASSERT_EQ(frames.size(), expected->names[i].size());
        has_inlined |= frames.size() == 2;
        for (std::size_t j = 0; j < frames.size(); ++j) {
            EXPECT_EQ(frames[j].system_name, expected->names[i][j].system_name);
            EXPECT_EQ(frames[j].file, expected->names[i][j].file);
            EXPECT_EQ(frames[j].line, expected->names[i][j].line);
        }
    }
    EXPECT_TRUE(has_inlined) << "square is inlined into work";
}

TEST_F(ObjectWorkerTest, HasNoRightsWhenItReads) {
    ObjectWorker worker(real_worker());
    ASSERT_THAT(names_at(ask(worker, program_)), testing::Contains("work"));
    EXPECT_EQ(worker.rights_left(), "");
    EXPECT_EQ(status_line(worker.pid(), "Seccomp"), "2") << "SECCOMP_MODE_FILTER";
    EXPECT_EQ(status_line(worker.pid(), "NoNewPrivs"), "1");
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
        EXPECT_EQ(status_line(worker.pid(), set), "0000000000000000") << set;
    }
    const bool is_root = ::geteuid() == 0;
    if (is_root) {
        EXPECT_EQ(status_line(worker.pid(), "Uid"), "65534\t65534\t65534\t65534");
    }
}

// It may not open anything; its agent does.
TEST_F(ObjectWorkerTest, ReadsDebugFilesThatLieElsewhere) {
    const test::BuiltProgram split(kSource, "a.c", "-O2 -g -gsplit-dwarf");
    ObjectWorker worker(real_worker());
    const std::uint64_t rand_call =
        std::stoull(test::output_of("objdump -d --no-show-raw-insn --disassemble=work '" +
                                    split.path() + "' | grep 'call.*rand' | head -1"),
                    nullptr, 16);
    const UniqueFd fd = split.open();
    const auto answer = worker.name(fd.get(), request_for(split, {rand_call}), kGenerous);
    EXPECT_THAT(names_at(answer), ElementsAre("square", "work")) << "square is in a .dwo file";
}

TEST_F(ObjectWorkerTest, GetsNothingOpenedButObjectFiles) {
    ObjectWorker worker(worker_of_kind(kAsksForWhatItNamed));
    const auto asked_for = [&](const std::string& path) {
        const UniqueFd fd = program_.open();
        ObjectRequest request = request_for(program_, {});
        request.path = path;
        return worker.name(fd.get(), request, kGenerous).loss.reason;
    };
    EXPECT_EQ(asked_for(program_.path()), "has it");
    EXPECT_EQ(asked_for("/etc/passwd"), "has it not");
    EXPECT_EQ(asked_for("/dev/zero"), "has it not");
    EXPECT_EQ(asked_for("/nonexistent"), "has it not");
}

TEST_F(ObjectWorkerTest, IsStartedAgainAfterItWasKilledWhileIdle) {
    ObjectWorker worker(real_worker());
    ASSERT_THAT(names_at(ask(worker, program_)), testing::Contains("work"));
    const pid_t first = worker.pid();
    ::kill(first, SIGKILL);
    siginfo_t ended{};  // which the agent has still to reap
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(first), &ended, WEXITED | WNOWAIT), 0);
    const auto answer = ask(worker, program_);
    EXPECT_THAT(names_at(answer), testing::Contains("work"));
    EXPECT_FALSE(answer.loss.worker_was_lost);
}

TEST_F(ObjectWorkerTest, IsKilledWhenItDoesNotAnswer) {
    ObjectWorker worker(real_worker());
    ASSERT_THAT(names_at(ask(worker, program_)), testing::Contains("work"));
    ::kill(worker.pid(), SIGSTOP);
    const auto answer = ask(worker, program_, std::chrono::milliseconds{50});
    EXPECT_TRUE(answer.loss.worker_was_lost);
    EXPECT_THAT(answer.loss.reason, HasSubstr("longer than 0.05 s"));
    EXPECT_EQ(worker.pid(), -1);
    EXPECT_THAT(names_at(ask(worker, program_)), testing::Contains("work"));
}

TEST_F(ObjectWorkerTest, LosesNoMoreThanOneObjectBySuchAnAnswer) {
    for (const WorkerKind kind :
         {kCrashes, kAnswersNonsense, kPromisesTooMuch, kSendsAnUnknownMessage}) {
        ObjectWorker worker(worker_of_kind(kind));
        for (int i = 0; i < 2; ++i) {
            const auto answer = ask(worker, program_);
            EXPECT_TRUE(answer.loss.worker_was_lost) << kind;
            EXPECT_FALSE(answer.names) << kind;
            EXPECT_EQ(worker.pid(), -1) << kind;
        }
    }
}

TEST_F(ObjectWorkerTest, SaysOfWhatItDied) {
    ObjectWorker worker(worker_of_kind(kCrashes));
    EXPECT_THAT(ask(worker, program_).loss.reason, HasSubstr("SIGABRT"));
}

// AddressSanitizer has an allocator of its own, which stands no limit.
#ifndef __SANITIZE_ADDRESS__
// A symbol takes more than 100 bytes with its name, so 200,000 do not fit into 16 MiB.
TEST_F(ObjectWorkerTest, IsBoundedInMemory) {
    std::string source = "int main(void) { return 0; }\n__asm__(\"";
    for (int i = 0; i < 200'000; ++i) {
        const std::string name = "a_function_with_a_name_that_needs_memory_" + std::to_string(i);
        source += ".type " + name + ",@function;" + name + ":;";
    }
    const test::BuiltProgram large(source + "\");\n", "large.c", "-O0");
    WorkerOptions options = real_worker();
    options.memory_bytes = 16ULL << 20;
    ObjectWorker worker(options);
    EXPECT_THAT(names_at(ask(worker, program_)), testing::Contains("work"));
    const UniqueFd fd = large.open();
    const std::uint64_t main_vaddr = test::find_nm(large.path(), "main").vaddr;
    const auto answer = worker.name(fd.get(), request_for(large, {main_vaddr}), kGenerous);
    EXPECT_TRUE(answer.loss.worker_was_lost);
    EXPECT_THAT(answer.loss.reason, HasSubstr("16 MiB"));
    EXPECT_THAT(names_at(ask(worker, program_)), testing::Contains("work"));
}
#endif

TEST_F(ObjectWorkerTest, IsNotThereWhenItCannotBeStarted) {
    ObjectWorker worker({.program = "/nonexistent/bobbin"});
    const auto answer = ask(worker, program_);
    EXPECT_FALSE(answer.names);
    EXPECT_THAT(answer.loss.reason, HasSubstr("/nonexistent/bobbin"));
}

TEST_F(ObjectWorkerTest, Demangles) {
    ObjectWorker worker(real_worker());
    const std::vector<std::string> names = {"_ZN3foo3barEi", "main", "_Dmain"};
    const auto simplified = worker.demangle({DemangleStyle::kSimplified, names}, kGenerous);
    ASSERT_TRUE(simplified) << simplified.error().reason;
    EXPECT_THAT(*simplified, ElementsAre("foo::bar", "main", "D main"));
    const auto full = worker.demangle({DemangleStyle::kFull, names}, kGenerous);
    ASSERT_TRUE(full) << full.error().reason;
    EXPECT_THAT(*full, ElementsAre("foo::bar(int)", "main", "D main"));
}

// Names that came another way would be shown as somebody else's.
TEST_F(ObjectWorkerTest, IsNotBelievedWhenItGivesAnotherNumberOfNames) {
    ObjectWorker worker(worker_of_kind(kAnswersNonsense));
    const auto names = worker.demangle({DemangleStyle::kFull, {"_Z1fv"}}, kGenerous);
    ASSERT_FALSE(names);
    EXPECT_TRUE(names.error().worker_was_lost);
}

TEST_F(ObjectWorkerTest, ReadsPerfMaps) {
    const test::TemporaryDirectory directory;
    test::put_file(directory / "map", "1000 100 first\n2000 100 second\n");
    const UniqueFd fd(::open((directory / "map").c_str(), O_RDONLY | O_CLOEXEC));
    ObjectWorker worker(real_worker());
    const auto answer = worker.name_generated(
        fd.get(), {CodeMapKind::kPerfMap, {0x1010, 0x1800, 0x2000}}, kGenerous);
    ASSERT_TRUE(answer.names) << answer.loss.reason;
    ASSERT_EQ(answer.names->names.size(), 3U);
    EXPECT_EQ(answer.names->names[0].at(0).system_name, "first");
    EXPECT_THAT(answer.names->names[1], IsEmpty());
    EXPECT_EQ(answer.names->names[2].at(0).system_name, "second");
    const auto no_jitdump =
        worker.name_generated(fd.get(), {CodeMapKind::kJitdump, {0x1010}}, kGenerous);
    ASSERT_TRUE(no_jitdump.names) << "a perf map is none";
    EXPECT_THAT(no_jitdump.names->names.at(0), IsEmpty());
}

class ExecutableNamerTest : public ObjectWorkerTest {
protected:
    std::vector<std::string> names_by(ExecutableNamer& namer) {
        executable::Executable executable;
        executable.path = program_.path();
        const UniqueFd fd = program_.open();
        executable.build_id = elf::ElfFile::open(fd.get())->build_id();
        executable.file = std::make_shared<executable::HeldFile>(program_.open(), program_.path());
        const std::vector<std::uint64_t> addresses = {address_of_work(program_.path())};
        std::vector<std::string> names;
        for (const auto& frames : namer.name(executable, addresses)) {
            for (const NamedFrame& frame : frames) {
                names.push_back(frame.system_name + (frame.line != 0 ? " with a line" : ""));
            }
        }
        return names;
    }
};

TEST_F(ExecutableNamerTest, HasNothingToSayOfWhatWentWell) {
    ExecutableNamer namer(kGenerous, real_worker());
    EXPECT_THAT(names_by(namer), testing::Contains("work with a line"));
    EXPECT_THAT(describe(namer.losses()), IsEmpty());
}

TEST_F(ExecutableNamerTest, TakesNamesFromSymbolsWhereDebugInformationKillsTheWorker) {
    ExecutableNamer namer(kGenerous, worker_of_kind(kCrashesOnDebugInformation));
    EXPECT_THAT(names_by(namer), ElementsAre("work"));
    EXPECT_THAT(describe(namer.losses()),
                ElementsAre(program_.path() + ": no lines and no inlined functions: its reader "
                                              "died of SIGABRT"));
}

TEST_F(ExecutableNamerTest, CountsFilesWithoutNames) {
    ExecutableNamer namer(std::chrono::milliseconds{100}, worker_of_kind(kHangs));
    EXPECT_THAT(names_by(namer), IsEmpty());
    EXPECT_THAT(names_by(namer), IsEmpty());
    EXPECT_THAT(describe(namer.losses()),
                ElementsAre(program_.path() + ": no names: reading it takes longer than 0.1 s; "
                                              "likewise 1 more file"));
}

TEST_F(ExecutableNamerTest, HasLessPatienceAfterAFileThatTookAllOfIt) {
    ExecutableNamer namer(std::chrono::milliseconds{600}, worker_of_kind(kHangs));
    names_by(namer);
    EXPECT_EQ(namer.patience(), std::chrono::milliseconds{300});
    names_by(namer);
    names_by(namer);
    EXPECT_EQ(namer.patience(), std::chrono::milliseconds{250}) << "no less than that";
    ExecutableNamer other(kGenerous, worker_of_kind(kCrashes));
    names_by(other);
    EXPECT_EQ(other.patience(), kGenerous) << "a crash takes no time";
}

TEST_F(ExecutableNamerTest, LeavesNamesAsTheyAreWhereTheyKillTheDemangler) {
    ExecutableNamer namer(kGenerous, worker_of_kind(kCrashes));
    const std::vector<std::string> hostile = {"_Z1fv"};
    EXPECT_THAT(namer.demangle(hostile), IsEmpty());
    EXPECT_THAT(describe(namer.losses()),
                ElementsAre(HasSubstr("names stay as in the symbol table: its reader died of "
                                      "SIGABRT")));
}

TEST_F(ExecutableNamerTest, DemanglesAsItWasTold) {
    ExecutableNamer namer(kGenerous, real_worker());
    const std::vector<std::string> names = {"_Z1fi"};
    EXPECT_THAT(namer.demangle(names), ElementsAre("f"));
    namer.demangle_as(DemangleStyle::kFull);
    EXPECT_THAT(namer.demangle(names), ElementsAre("f(int)"));
    ExecutableNamer without(kGenerous, worker_of_kind(kCrashes));
    without.demangle_as(DemangleStyle::kNone);
    EXPECT_THAT(without.demangle(names), IsEmpty());
    EXPECT_EQ(without.worker().pid(), -1) << "it was not needed";
}

// The second one to ask has a worker that would give it no names.
TEST_F(ExecutableNamerTest, FindsInTheCacheWhatAnotherFound) {
    const test::TemporaryDirectory directory;
    const auto open_cache = [&] { return NameCache::open(directory / "cache"); };
    ExecutableNamer first(kGenerous, real_worker());
    first.use(open_cache());
    const std::vector<std::string> names = names_by(first);
    EXPECT_THAT(names, testing::Contains("work with a line"));
    ExecutableNamer second(kGenerous, worker_of_kind(kCrashes));
    second.use(open_cache());
    EXPECT_EQ(names_by(second), names);
    EXPECT_EQ(second.worker().pid(), -1) << "it was not needed";
}

// What was lost may be found another time.
TEST_F(ExecutableNamerTest, DoesNotKeepWhatIsIncomplete) {
    const test::TemporaryDirectory directory;
    const auto open_cache = [&] { return NameCache::open(directory / "cache"); };
    ExecutableNamer first(kGenerous, worker_of_kind(kCrashesOnDebugInformation));
    first.use(open_cache());
    EXPECT_THAT(names_by(first), ElementsAre("work"));
    ExecutableNamer second(kGenerous, real_worker());
    second.use(open_cache());
    EXPECT_THAT(names_by(second), testing::Contains("work with a line"));
}

}  // namespace
}  // namespace bobbin::symbolize
