// SPDX-License-Identifier: Apache-2.0
// Anywhere a program can come from: its call chain comes back whole, with its own names, whether or
// not the recorder could find the file by a path.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "kernel/processes_stacks.h"
#include "support/profile_readers.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

constexpr const char* kStatic = "processes_chain.red.static";

// A script that runs the program $1 as `placed` for two seconds of CPU time; $2 is a fresh
// directory. Mounts are made in a namespace of their own, and end with it.
struct Place {
    std::string name;
    std::string script;
    std::string fixture = kStatic;
};

std::ostream& operator<<(std::ostream& stream, const Place& place) { return stream << place.name; }

std::string in_new_mount_namespace(const std::string& script, const std::string& options = {}) {
    return "unshare --mount --propagation private " + options + " sh -e -c '" + script +
           "' sh \"$1\" \"$2\"";
}

std::string on_overlay(const std::string& run) {
    return in_new_mount_namespace(
        "mount -t tmpfs none \"$2\"; cd \"$2\"; mkdir lower upper work merged; "
        "cp \"$1\" lower/placed; "
        "mount -t overlay none -o lowerdir=lower,upperdir=upper,workdir=work merged; " +
        run);
}

// Goes on when the program has said that it works.
std::string start(const std::string& program) {
    return program + " 2 >\"$2/said\" & until grep -q running \"$2/said\"; do :; done; ";
}

class ProgramIn : public testing::TestWithParam<Place> {};

TEST_P(ProgramIn, ComesBackWhole) {
    const RecordedRun run = record_script(GetParam().script, GetParam().fixture);
    expect_one_colour(run.profile.stacks_of("placed"), "red");
}

const std::string kOnTmpfs = "mount -t tmpfs none \"$2\"; cp \"$1\" \"$2/placed\"; \"$2/placed\" 2";

INSTANTIATE_TEST_SUITE_P(
    Place, ProgramIn,
    testing::Values(
        Place{"MountNamespace", in_new_mount_namespace(kOnTmpfs)},
        Place{"PidNamespace", in_new_mount_namespace(kOnTmpfs, "--pid --fork --mount-proc")},
        Place{"Chroot", "cp \"$1\" \"$2/placed\"; chroot \"$2\" /placed 2"},
        Place{"LowerLayerOfOverlay", on_overlay("merged/placed 2")},
        Place{"UpperLayerOfOverlay",
              on_overlay("cp \"$1\" merged/new; mv merged/new merged/placed; "
                         "merged/placed 2")},
        Place{"OverlayCopiedUpWhileItRuns",
              on_overlay(start("merged/placed") + "touch merged/placed; wait $!")},
        Place{"UnmountedFileSystem",
              in_new_mount_namespace("mount -t tmpfs none \"$2\"; cp \"$1\" \"$2/placed\"; " +
                                     start("\"$2/placed\"") + "umount --lazy \"$2\"; wait $!")},
        Place{"HugePagesOfTmpfs",
              in_new_mount_namespace("mount -t tmpfs -o huge=always none \"$2\"; "
                                     "cp \"$1\" \"$2/placed\"; \"$2/placed\" 2"),
              "processes_chain.red.huge"}),
    [](const auto& place) { return place.param.name; });

class ProgramLinked : public testing::TestWithParam<std::string> {};

TEST_P(ProgramLinked, ComesBackWhole) {
    const std::string fixture = "processes_chain.red." + GetParam();
    const RecordedRun run = record_processes({fixture_path(fixture), "2"});
    expect_one_colour(run.profile.stacks_of(comm_of(fixture)), "red");
}

INSTANTIATE_TEST_SUITE_P(As, ProgramLinked,
                         testing::Values("static", "static_pie", "prelinked", "huge"),
                         [](const auto& variant) { return variant.param; });

struct OddName {
    std::string what;
    std::string file_name;  // 15 plain characters first: that much the kernel keeps
};

std::ostream& operator<<(std::ostream& stream, const OddName& name) { return stream << name.what; }

class ProgramNamed : public testing::TestWithParam<OddName> {};

TEST_P(ProgramNamed, ComesBackWhole) {
    const TemporaryDirectory directory;
    const auto path = copy_fixture(kStatic, directory / GetParam().file_name);
    const RecordedRun run = record_processes({path, "2"});
    expect_one_colour(run.profile.stacks_of(comm_of(path)), "red");
}

INSTANTIATE_TEST_SUITE_P(
    With, ProgramNamed,
    testing::Values(OddName{"Spaces", "oddly_named_file with (two) spaces"},
                    OddName{"Newlines", "oddly_named_file\nof two\n lines"},
                    OddName{"WhatIsNotUtf8", "oddly_named_file\xff\xfe\x80"},
                    OddName{"WhatProcSaysOfDeletedFiles", "oddly_named_file (deleted)"},
                    OddName{"AllOf255Bytes", "oddly_named_file" + std::string(239, 'x')}),
    [](const auto& name) { return name.param.what; });

TEST(ProgramWithTwoLinks, ComesBackWholeByBothNames) {
    const RecordedRun run = record_script(
        "cp \"$1\" \"$2/first_link\"; ln \"$2/first_link\" \"$2/other_link\"; "
        "\"$2/first_link\" 1.5; \"$2/other_link\" 1.5",
        kStatic);
    expect_one_colour(run.profile.stacks_of("first_link"), "red");
    expect_one_colour(run.profile.stacks_of("other_link"), "red");
}

TEST(ProgramInMemory, ComesBackWhole) {
    const std::string launcher = fixture_path("processes_launcher");
    const RecordedRun run = record_processes({launcher, "memfd", fixture_path(kStatic), "2"});
    std::vector<Stack> stacks = run.profile.stacks;
    std::erase_if(stacks,
                  [&](const Stack& stack) { return stack.label("comm") == comm_of(launcher); });
    expect_one_colour(stacks, "red");
}

TEST(ProgramThatExecutesItself, ComesBackWholeBeforeAndAfter) {
    const RecordedRun run = record_processes({fixture_path(kStatic), "2.5", "again"});
    expect_one_colour(run.profile.stacks_of(comm_of(kStatic)), "red");
    expect_one_colour(run.profile.stacks_of("exe"), "red");
}

TEST(ProgramThatIsDeleted, KeepsItsNames) {
    const TemporaryDirectory directory;
    const auto path = copy_fixture(kStatic, directory / "placed");
    const RecordedRun run =
        record_processes({fixture_path("processes_launcher"), "deleted", path, "2"});
    expect_one_colour(run.profile.stacks_of("placed"), "red");
}

// A package upgrade: what runs keeps its names, what starts afterwards gets the new ones.
TEST(ProgramThatIsReplaced, KeepsItsNamesBesideTheNewOnes) {
    const TemporaryDirectory directory;
    const auto path = copy_fixture(kStatic, directory / "placed");
    const auto newer = copy_fixture("processes_chain.blue.static", directory / "placed.new");
    const std::string launcher = fixture_path("processes_launcher");
    const RecordedRun run = record_processes({launcher, "upgraded", path, newer, "2"});

    std::map<std::string, std::vector<Stack>> stacks_by_pid;
    for (const Stack& stack : run.profile.stacks_of("placed"))
        stacks_by_pid[stack.label("pid")].push_back(stack);
    ASSERT_EQ(stacks_by_pid.size(), 2U);
    for (const auto& [pid, stacks] : stacks_by_pid) {
        const bool is_old =
            run.process.standard_output.find("old " + pid + " ") != std::string::npos;
        expect_one_colour(stacks, is_old ? "red" : "blue");
    }
}

// Red behind one path, and blue behind the same path where another namespace has mounted it.
TEST(PathThatMeansTwoFiles, NamesEachByItsOwn) {
    const TemporaryDirectory directory;
    const auto path = copy_fixture(kStatic, directory / "placed");
    const std::string script =
        "\"$1\" 2 & unshare --mount --propagation private sh -e -c "
        "'mount --bind \"$2\" \"$1\"; cd /; exec \"$1\" 2' in_namespace \"$1\" \"$2\"; wait";
    const RecordedRun run = record_processes(
        {"sh", "-e", "-c", script, "sh", path, fixture_path("processes_chain.blue.static")});
    std::map<std::string, std::vector<Stack>> stacks_by_pid;
    for (const Stack& stack : run.profile.stacks_of("placed"))
        stacks_by_pid[stack.label("pid")].push_back(stack);
    ASSERT_EQ(stacks_by_pid.size(), 2U);
    std::string colours;
    for (const auto& [pid, stacks] : stacks_by_pid) {
        const bool is_blue = std::any_of(stacks.begin(), stacks.end(), [](const Stack& stack) {
            return has_colour(stack, "blue");
        });
        expect_one_colour(stacks, is_blue ? "blue" : "red");
        colours += is_blue ? "blue " : "red ";
    }
    EXPECT_TRUE(colours == "red blue " || colours == "blue red ") << colours;
}

}  // namespace
}  // namespace bobbin::test
