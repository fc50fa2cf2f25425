// SPDX-License-Identifier: Apache-2.0
// What the kernel side does about targets before any sample, and the events that bring samples.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel/scratch_cgroup.h"
#include "sampler/bpf_program.h"
#include "sampler/cgroup_tree.h"
#include "sampler/outcome_counts.h"
#include "sampler/perf_events.h"
#include "sampler/ring_buffer.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

using sampler::BpfProgram;
using sampler::Targets;
using sampler::TickProgram;

const std::string kTarget = "known_chain.gcc.pie";
const std::string kOther = "known_chain.clang.pie";
const std::string kTargetOfLater = "known_chain.gcc.no_pie";
const std::string kOtherOfLater = "known_chain.clang.no_pie";

ino_t inode_of(const std::string& fixture) {
    struct stat file{};
    EXPECT_EQ(::stat(fixture_path(fixture).c_str(), &file), 0) << fixture;
    return file.st_ino;
}

// A loaded program that tells which files it announces.
class Announcements {
public:
    explicit Announcements(const Targets& targets)
        : program_(BpfProgram::load({.targets = targets})) {
        if (!program_) {
            ADD_FAILURE() << program_.error().message();
            return;
        }
        EXPECT_TRUE(program_->attach_process_events().has_value());
        ring_ = sampler::RingBuffer::open(
            program_->announcements_fd(), [this](std::span<const std::byte> record) {
                abi::announcement announcement{};
                ASSERT_EQ(record.size(), sizeof(announcement));
                std::memcpy(&announcement, record.data(), sizeof(announcement));
                inodes_.insert(announcement.key.inode);
            });
        EXPECT_TRUE(ring_.has_value());
    }
    void announce_running() { EXPECT_TRUE(program_ && program_->announce_running().has_value()); }
    bool has(const std::string& fixture) {
        EXPECT_TRUE(ring_ && ring_->read(std::chrono::milliseconds{0}).has_value());
        return inodes_.contains(inode_of(fixture));
    }

private:
    Result<BpfProgram> program_;
    std::set<ino_t> inodes_;
    Result<sampler::RingBuffer> ring_ = fail("no program");
};

class RunningFiles : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(target_.wait_for_output("running"));
        ASSERT_TRUE(other_.wait_for_output("running"));
    }
    static void expect_target_only(const Targets& targets) {
        Announcements announcements(targets);
        announcements.announce_running();
        EXPECT_TRUE(announcements.has(kTarget));
        EXPECT_FALSE(announcements.has(kOther));
    }

    ChildProcess target_{{fixture_path(kTarget), "3600"}};
    ChildProcess other_{{fixture_path(kOther), "3600"}};
};

TEST_F(RunningFiles, AreAllAnnouncedWithoutTargets) {
    Announcements announcements({});
    announcements.announce_running();
    EXPECT_TRUE(announcements.has(kTarget));
    EXPECT_TRUE(announcements.has(kOther));
}

TEST_F(RunningFiles, AreAnnouncedForTheTargetProcessOnly) {
    expect_target_only({.processes = {target_.pid()}});
}

TEST_F(RunningFiles, AreAnnouncedForTheTargetNameOnly) {
    expect_target_only({.comms = {"known_chain.g*"}});
}

TEST_F(RunningFiles, AreAnnouncedForTheTargetCgroupOnly) {
    const ScratchCgroup cgroup("bobbin-test-" + std::to_string(::getpid()));
    cgroup.take(target_.pid());
    const auto found = sampler::CgroupTree::open()->at(cgroup.path());
    ASSERT_TRUE(found.has_value()) << found.error().message();
    expect_target_only({.cgroup_ids = {found->id}});
}

// The thread that is asked for is not its process's first, which is the one mappings are listed by.
TEST(RunningFilesOfThreads, AreAnnouncedForAThreadBesideTheFirst) {
    const std::string fixture = "known_chain_threads.gcc.pie";
    ChildProcess process({fixture_path(fixture), "3600"});
    ASSERT_TRUE(process.wait_for_output("running"));
    pid_t thread = process.pid();
    while (thread == process.pid()) {
        for (const auto& entry : std::filesystem::directory_iterator(
                 "/proc/" + std::to_string(process.pid()) + "/task")) {
            thread = std::max(thread, std::stoi(entry.path().filename()));
        }
    }
    Announcements announcements({.threads = {thread}});
    announcements.announce_running();
    EXPECT_TRUE(announcements.has(fixture));
}

// The target is a shell that waits for a line before it starts its program; the other program is
// started by this process.
TEST(FilesOfLater, AreAnnouncedForChildrenOfTheTargetOnly) {
    const TemporaryDirectory directory;
    const std::string line = directory / "line";
    ASSERT_EQ(::mkfifo(line.c_str(), S_IRUSR | S_IWUSR), 0);
    ChildProcess shell(
        {"sh", "-c",
         "echo waiting; read word <\"$0\"; " + fixture_path(kTargetOfLater) + " 3600; true", line});
    ASSERT_TRUE(shell.wait_for_output("waiting"));
    Announcements announcements({.processes = {shell.pid()}});
    std::ofstream(line) << "go\n";
    ChildProcess other({fixture_path(kOtherOfLater), "3600"});
    ASSERT_TRUE(shell.wait_for_output("running"));
    ASSERT_TRUE(other.wait_for_output("running"));
    EXPECT_TRUE(announcements.has(kTargetOfLater));
    EXPECT_FALSE(announcements.has(kOtherOfLater));
}

// Nothing of it is left out by the verifier, as it is where nobody is chosen.
class EveryTickProgramWithTargets : public testing::TestWithParam<TickProgram> {};

TEST_P(EveryTickProgramWithTargets, LoadsAndStaysFarFromTheVerifiersLimit) {
    constexpr std::uint32_t kVerifierLimit = 1'000'000;
    Targets targets{.processes = {::getpid()}, .threads = {::getpid()}, .cgroup_ids = {1}};
    targets.comms.assign(abi::MAX_TARGET_COMMS, "name");
    const auto program = BpfProgram::load({.targets = targets, .tick_program = GetParam()});
    ASSERT_TRUE(program.has_value()) << program.error().message();
    EXPECT_EQ(program->tick_program(), GetParam());
    for (const auto& [name, instructions] : program->verified_instructions()) {
        EXPECT_LT(instructions, kVerifierLimit / 2) << name;
        RecordProperty(name, static_cast<int>(instructions));
    }
}

INSTANTIATE_TEST_SUITE_P(All, EveryTickProgramWithTargets,
                         testing::Values(TickProgram::kLoop, TickProgram::kTailCalls,
                                         TickProgram::kFindVma),
                         [](const auto& program) { return std::string(name_of(program.param)); });

// ---- cgroups
// -------------------------------------------------------------------------------------

TEST(CgroupTree, FindsThePathOfAnIdWhileTheCgroupIsThere) {
    const auto tree = sampler::CgroupTree::open();
    ASSERT_TRUE(tree.has_value()) << tree.error().message();
    std::uint64_t id = 0;
    {
        const ScratchCgroup outer("bobbin-test-" + std::to_string(::getpid()));
        const ScratchCgroup inner(outer, "with blank");
        const auto cgroup = tree->at(inner.path());
        ASSERT_TRUE(cgroup.has_value()) << cgroup.error().message();
        id = cgroup->id;
        EXPECT_EQ(tree->path_of(id), inner.path());
        EXPECT_EQ(tree->at("/")->path, "/");
    }
    EXPECT_EQ(tree->path_of(id), std::nullopt);
}

// ---- CPUs that come and go
// -----------------------------------------------------------------------

std::uint64_t ticks(const BpfProgram& program) {
    const auto counters = sampler::read_outcome_counts(program.outcome_counts_fd());
    EXPECT_TRUE(counters.has_value());
    return counters ? counters->ticks : 0;
}

// This thread keeps its CPU busy until a tick comes.
bool ticks_go_on(const BpfProgram& program) {
    const std::uint64_t before = ticks(program);
    const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
    while (ticks(program) == before) {
        if (std::chrono::steady_clock::now() > deadline) return false;
    }
    return true;
}

TEST(PerfEvents, FollowTheCpusThatAreOnline) {
    const auto program = BpfProgram::load({});
    ASSERT_TRUE(program.has_value()) << program.error().message();
    const auto online = sampler::online_cpus();
    ASSERT_TRUE(online.has_value()) << online.error().message();
    auto events = sampler::PerfEvents::open(*online, 499, program->tick_program_fd());
    ASSERT_TRUE(events.has_value()) << events.error().message();
    ASSERT_TRUE(events->start().has_value());
    EXPECT_TRUE(ticks_go_on(*program));

    events->follow({}, {});
    EXPECT_EQ(events->cpus(), std::vector<int>{});
    const std::uint64_t at_standstill = ticks(*program);
    EXPECT_EQ(ticks(*program), at_standstill);

    events->follow(*online, {});
    EXPECT_EQ(events->cpus(), *online);
    EXPECT_TRUE(ticks_go_on(*program)) << "events that came later tick as well";
    events->follow(*online, *online);
    EXPECT_EQ(events->cpus(), *online);
    EXPECT_TRUE(ticks_go_on(*program)) << "after all CPUs were away for a moment";
}

TEST(PerfEvents, GoOnWithoutACpuThatIsNotThere) {
    const auto program = BpfProgram::load({});
    ASSERT_TRUE(program.has_value()) << program.error().message();
    std::vector<int> cpus = *sampler::online_cpus();
    auto events = sampler::PerfEvents::open(cpus, 499, program->tick_program_fd());
    ASSERT_TRUE(events.has_value()) << events.error().message();
    const std::vector<int> there = cpus;
    cpus.push_back(8191);  // the highest number any kernel can give
    events->follow(cpus, {});
    EXPECT_EQ(events->cpus(), there);
}

}  // namespace
}  // namespace bobbin::test
