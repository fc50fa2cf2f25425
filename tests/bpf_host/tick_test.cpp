// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "host_process.h"

namespace bobbin {
namespace {

using testing::ElementsAre;

class Tick : public HostProcess {
protected:
    void SetUp() override {
        HostProcess::SetUp();
        publish(kProgramInode, {{0x100, bottom()}});
    }
    const host_registers in_program_{kProgramStart + 0x110, kStack, 0, 0};

    static void expect_every_tick_accounted_for(std::uint64_t ticks) {
        const auto counted = counters();
        EXPECT_EQ(counted.ticks, ticks);
        EXPECT_EQ(std::accumulate(std::begin(counted.by_tick_outcome),
                                  std::end(counted.by_tick_outcome), std::uint64_t{0}),
                  ticks);
        EXPECT_EQ(counted.by_tick_outcome[abi::TICK_EMITTED],
                  fake_ring_records(host_map_samples()).size());
        EXPECT_EQ(std::accumulate(std::begin(counted.by_walk_end), std::end(counted.by_walk_end),
                                  std::uint64_t{0}),
                  counted.by_tick_outcome[abi::TICK_EMITTED]);
    }
};

TEST_F(Tick, InUserModeHasNoKernelFrames) {
    fake_kernel_stack({0xffffffff81000001});
    const auto sample = tick(in_program_);
    EXPECT_TRUE(sample.parsed.kernel_frames.empty());
    EXPECT_THAT(frames(sample.parsed.user_frames), ElementsAre(in_program(0x110)));
    EXPECT_EQ(sample.parsed.header->flags, 0);
    EXPECT_EQ(sample.parsed.header->pid, 4242U);
    EXPECT_EQ(sample.parsed.header->cpu, 3U);
    EXPECT_STREQ(sample.parsed.header->process_comm, "host");
    EXPECT_EQ(sample.parsed.header->process_start_boot_ns, 99U);
    expect_every_tick_accounted_for(1);
}

TEST_F(Tick, InKernelModeHasTheUserStackBelowTheKernels) {
    fake_kernel_stack({0xffffffff81000001, 0xffffffff81000002});
    const auto sample = tick(in_program_, true);
    EXPECT_THAT(frames(sample.parsed.kernel_frames),
                ElementsAre(0xffffffff81000001, 0xffffffff81000002));
    EXPECT_THAT(frames(sample.parsed.user_frames), ElementsAre(in_program(0x110)));
    EXPECT_EQ(sample.parsed.header->flags, abi::SAMPLE_IN_KERNEL_MODE);
}

TEST_F(Tick, OfAKernelThreadIsASampleWithoutUserStack) {
    host_set_kernel_thread(1);
    fake_kernel_stack({0xffffffff81000001});
    const auto sample = tick(in_program_, true);
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_NO_USER_STACK);
    EXPECT_TRUE(sample.parsed.user_frames.empty());
    expect_every_tick_accounted_for(1);
}

TEST_F(Tick, IsCountedWhenTheRingIsFull) {
    fake_ring_refuses(host_map_samples(), true);
    tick(in_program_);
    fake_ring_refuses(host_map_samples(), false);
    tick(in_program_);
    EXPECT_EQ(counters().by_tick_outcome[abi::TICK_RING_FULL], 1U);
    expect_every_tick_accounted_for(2);
}

TEST_F(Tick, IsCountedWhenItsProcessIsNotAskedFor) {
    host_set_targets_only(1);
    tick(in_program_);
    EXPECT_EQ(counters().by_tick_outcome[abi::TICK_NOT_A_TARGET], 1U);
    EXPECT_TRUE(fake_ring_records(host_map_samples()).empty());
    expect_every_tick_accounted_for(1);
}

TEST_F(Tick, IsCountedWhenNothingOfItIsAskedFor) {
    host_leave_out(0, 1);
    tick(in_program_);
    EXPECT_EQ(counters().by_tick_outcome[abi::TICK_OUT_OF_SCOPE], 1U) << "-K in user mode";
    fake_kernel_stack({0xffffffff81000001});
    const auto kernel_only = tick(in_program_, true);
    EXPECT_EQ(kernel_only.parsed.kernel_frames.size(), 1U);
    EXPECT_EQ(kernel_only.parsed.header->walk_end, abi::WALK_END_NOT_ASKED);
    host_leave_out(1, 0);
    const auto user_only = tick(in_program_, true);
    EXPECT_TRUE(user_only.parsed.kernel_frames.empty());
    EXPECT_EQ(user_only.parsed.user_frames.size(), 1U);
    host_set_kernel_thread(1);
    tick(in_program_, true);
    EXPECT_EQ(counters().by_tick_outcome[abi::TICK_OUT_OF_SCOPE], 2U) << "-U in a kernel thread";
    expect_every_tick_accounted_for(4);
}

// The registers are of the old program, the mappings already of the new one.
TEST_F(Tick, InsideExecveHasNoUserStack) {
    host_set_in_execve(1);
    const auto sample = tick(in_program_, true);
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_IN_EXECVE);
    EXPECT_TRUE(sample.parsed.user_frames.empty());
    host_set_in_execve(0);
    EXPECT_EQ(tick(in_program_, true).parsed.user_frames.size(), 1U);
}

class Announcement : public HostProcess {
protected:
    // Else the first sample that waits for a table would announce the program too.
    void SetUp() override {
        HostProcess::SetUp();
        set_file_state(kProgramInode, abi::FILE_READY);
    }
    static std::size_t announced() { return fake_ring_records(host_map_announcements()).size(); }
    const host_registers in_library_{kLibraryStart + 8, kStack, 0, 0};
};

TEST_F(Announcement, OfAnUnknownFileIsMadeOnce) {
    tick(in_library_);
    tick(in_library_);
    ASSERT_EQ(announced(), 1U);
    abi::announcement record{};
    std::memcpy(&record, fake_ring_records(host_map_announcements())[0].data(), sizeof(record));
    abi::file_key key{};
    host_file_key(kLibraryInode, &key);
    EXPECT_EQ(std::memcmp(&record.key, &key, sizeof(key)), 0);
    EXPECT_EQ(record.vm_start_vaddr, kLibraryStart);
    EXPECT_EQ(record.vm_end_vaddr, kLibraryStart + kTextBytes);
    EXPECT_EQ(record.pid, 4242U);
    EXPECT_EQ(record.reason, abi::ANNOUNCED_BY_SAMPLE);
    EXPECT_GE(record.executable_id, unsigned{FIRST_FILE_EXECUTABLE_ID});
    EXPECT_EQ(last_sample().parsed.header->walk_end, abi::WALK_END_FILE_NOT_READY);
}

TEST_F(Announcement, ThatFoundNoRoomIsMadeAgain) {
    fake_ring_refuses(host_map_announcements(), true);
    tick(in_library_);
    EXPECT_GE(counters().announcements_lost, 1U);
    EXPECT_EQ(announced(), 0U);
    fake_ring_refuses(host_map_announcements(), false);
    tick(in_library_);
    EXPECT_EQ(announced(), 1U);
}

TEST_F(Announcement, ComesWithExecBeforeAnySample) {
    host_exec(kLibraryStart + 0x40);
    ASSERT_EQ(announced(), 1U);
    abi::announcement record{};
    std::memcpy(&record, fake_ring_records(host_map_announcements())[0].data(), sizeof(record));
    EXPECT_EQ(record.reason, abi::ANNOUNCED_BY_EXEC);
    EXPECT_EQ(record.vm_start_vaddr, kLibraryStart);
}

// The agent lives in namespace 7, one level below the root's.
class AgentInAPidNamespace : public Announcement {
protected:
    static abi::announcement first_announcement() {
        abi::announcement record{};
        const auto& records = fake_ring_records(host_map_announcements());
        if (!records.empty()) std::memcpy(&record, records[0].data(), sizeof(record));
        return record;
    }
};

TEST_F(AgentInAPidNamespace, HasTheNumbersOfItsOwnNamespace) {
    const host_number numbers[] = {{4242, 1}, {17, 7}};
    host_set_numbers(numbers, 2);
    const auto sample = tick(in_library_);
    EXPECT_EQ(sample.parsed.header->pid, 17U);
    EXPECT_EQ(sample.parsed.header->tid, 17U);
    EXPECT_STREQ(sample.parsed.header->process_comm, "host");
    ASSERT_EQ(announced(), 1U);
    EXPECT_EQ(first_announcement().pid, 17U);
}

TEST_F(AgentInAPidNamespace, HasThemOfProcessesBelowToo) {
    const host_number numbers[] = {{4242, 1}, {17, 7}, {1, 9}};
    host_set_numbers(numbers, 3);
    EXPECT_EQ(tick(in_library_).parsed.header->pid, 17U);
    host_exec(kLibraryStart + 0x40);
    EXPECT_EQ(first_announcement().pid, 17U);
}

// Another container's process, and one of the machine itself: no place of /proc leads to their
// files, and numbers of other namespaces would lead to somebody else's.
TEST_F(AgentInAPidNamespace, AnnouncesNoFileOfWhatItCannotSee) {
    const std::vector<host_number> elsewhere = {{4242, 1}, {17, 8}};
    const std::vector<host_number> above = {{4242, 1}};
    for (const auto& numbers : {elsewhere, above}) {
        host_set_numbers(numbers.data(), static_cast<__u32>(numbers.size()));
        host_exec(kLibraryStart + 0x40);
        const auto sample = tick(in_library_);
        EXPECT_EQ(announced(), 0U);
        EXPECT_EQ(sample.parsed.header->pid, 0U);
        EXPECT_EQ(sample.parsed.header->tid, 0U);
        EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_FILE_OUT_OF_SIGHT);
        EXPECT_TRUE(sample.parsed.paused_walk.empty()) << "nothing is to be waited for";
    }
}

TEST_F(AgentInAPidNamespace, WalksWhatItCannotSeeWhereTheFileIsKnown) {
    publish(kProgramInode, {{0x100, bottom()}});
    const host_number above[] = {{4242, 1}};
    host_set_numbers(above, 1);
    const auto sample = tick({kProgramStart + 0x110, kStack, 0, 0});
    EXPECT_EQ(sample.parsed.header->walk_end, abi::WALK_END_BOTTOM);
}

TEST_F(Announcement, IsNotMadeOfAKnownFile) {
    host_exec(kProgramStart);
    EXPECT_EQ(announced(), 0U);
}

}  // namespace
}  // namespace bobbin
