// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "paused_sample.h"

namespace bobbin {
namespace {

class ListMappings : public PausedProcess {};

TEST_F(ListMappings, ListsExecutableMappingsLowestFirst) {
    const auto sample = tick_in_library();
    ASSERT_EQ(sample.mappings.size(), 4U);
    const auto& [program, generated, library, vdso] =
        std::tie(sample.mappings[0], sample.mappings[1], sample.mappings[2], sample.mappings[3]);
    EXPECT_EQ(program.vm_start_vaddr, kProgramStart);
    EXPECT_EQ(program.vm_end_vaddr, kProgramStart + kTextBytes);
    EXPECT_EQ(program.file_offset, kTextFileOffset);
    EXPECT_EQ(program.executable_id, id_of(kProgramInode));
    EXPECT_EQ(generated.vm_start_vaddr, kGeneratedCode);
    EXPECT_EQ(generated.executable_id, 0U);
    EXPECT_EQ(library.vm_start_vaddr, kLibraryStart);
    EXPECT_EQ(library.executable_id, sample.walk.awaited_executable_id);
    EXPECT_NE(library.executable_id, 0U);
    EXPECT_EQ(vdso.vm_start_vaddr, kVdso);
    EXPECT_EQ(vdso.executable_id, unsigned{EXECUTABLE_ID_VDSO});
    EXPECT_EQ(vdso.file_offset, 0U);
    for (const auto& mapping : sample.mappings) EXPECT_EQ(mapping.flags, 0U);
}

TEST_F(ListMappings, AnnouncesEveryFileOfTheProcessAtOnce) {
    auto mappings = many_files(20, 0);
    host_set_process(mappings.data(), static_cast<__u32>(mappings.size()), 0);
    tick_at(mappings[3].start_vaddr);
    EXPECT_EQ(fake_ring_records(host_map_announcements()).size(), 20U);
    tick_at(mappings[3].start_vaddr);
    EXPECT_EQ(fake_ring_records(host_map_announcements()).size(), 20U);
}

TEST_F(ListMappings, ListsAsManyMappingsAsFit) {
    auto mappings = many_files(abi::MAX_PAUSED_MAPPINGS, 0);
    host_set_process(mappings.data(), static_cast<__u32>(mappings.size()), 0);
    const auto sample = tick_at(mappings[5].start_vaddr);
    EXPECT_EQ(sample.mappings.size(), unsigned{abi::MAX_PAUSED_MAPPINGS});
    EXPECT_EQ(sample.walk.flags & abi::PAUSED_MAPPINGS_CUT, 0U);
}

TEST_F(ListMappings, ListsTheFramesOwnMappingOfVeryMany) {
    auto mappings = many_files(100, 0);
    host_set_process(mappings.data(), static_cast<__u32>(mappings.size()), 0);
    const auto sample = tick_at(mappings[99].start_vaddr);
    ASSERT_EQ(sample.mappings.size(), unsigned{abi::MAX_PAUSED_MAPPINGS});
    EXPECT_NE(sample.walk.flags & abi::PAUSED_MAPPINGS_CUT, 0U);
    for (std::size_t i = 0; i < 63; ++i) {
        EXPECT_EQ(sample.mappings[i].vm_start_vaddr, mappings[i].start_vaddr) << i;
    }
    EXPECT_EQ(sample.mappings[63].vm_start_vaddr, mappings[99].start_vaddr);
    EXPECT_EQ(sample.mappings[63].vm_end_vaddr, mappings[99].end_vaddr);
    EXPECT_EQ(sample.mappings[63].file_offset, mappings[99].file_offset);
    EXPECT_EQ(sample.mappings[63].executable_id, sample.walk.awaited_executable_id);
}

TEST_F(ListMappings, ListsWhatTheWalkHasMetOfVeryMany) {
    auto mappings = many_files(100, 0);
    host_set_process(mappings.data(), static_cast<__u32>(mappings.size()), 0);
    publish(1098, {{0, cfa_rsp(8)}});
    publish(1070, {{0, cfa_rsp(8)}});
    put_stack(kStack, {mappings[70].start_vaddr + 9, mappings[99].start_vaddr + 9});
    const auto sample = tick_at(mappings[98].start_vaddr);
    ASSERT_EQ(sample.frames.size(), 3U);
    ASSERT_EQ(sample.mappings.size(), unsigned{abi::MAX_PAUSED_MAPPINGS});
    EXPECT_EQ(sample.mappings[60].vm_start_vaddr, mappings[60].start_vaddr);
    EXPECT_EQ(sample.mappings[61].vm_start_vaddr, mappings[70].start_vaddr);
    EXPECT_EQ(sample.mappings[62].vm_start_vaddr, mappings[98].start_vaddr);
    EXPECT_EQ(sample.mappings[63].vm_start_vaddr, mappings[99].start_vaddr);
}

TEST_F(ListMappings, LooksAtNoMoreThan512Mappings) {
    auto mappings = many_files(4, 140);  // 4 x 141 and the stack
    ASSERT_EQ(mappings.size(), 565U);
    host_set_process(mappings.data(), static_cast<__u32>(mappings.size()), 0);
    const auto sample = tick_at(mappings[140].start_vaddr);
    EXPECT_EQ(sample.mappings.size(), 3U) << "the fourth is the 564th of all";
    EXPECT_NE(sample.walk.flags & abi::PAUSED_MAPPINGS_CUT, 0U);
}

TEST_F(ListMappings, SaysWhichFilesFoundNoRoom) {
    auto mappings = many_files(64, 0);
    host_set_process(mappings.data(), static_cast<__u32>(mappings.size()), 0);
    const auto sample = tick_at(mappings[0].start_vaddr);
    ASSERT_EQ(sample.mappings.size(), 64U);
    EXPECT_EQ(sample.mappings[61].flags, 0U);
    EXPECT_NE(sample.mappings[61].executable_id, 0U);
    EXPECT_EQ(sample.mappings[62].flags, unsigned{abi::PAUSED_FILE_UNKNOWN});
    EXPECT_EQ(sample.mappings[62].executable_id, 0U);
}

}  // namespace
}  // namespace bobbin
