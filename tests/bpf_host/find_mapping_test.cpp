// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fake_kernel.h"
#include "host_process.h"
#include "profiler_on_host.h"

namespace bobbin {
namespace {

std::vector<host_mapping> spread_mappings(std::uint32_t count) {
    std::vector<host_mapping> mappings;
    std::uint64_t at = 0x10000;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t size = 0x1000 * (1 + i % 5);
        mappings.push_back({.start_vaddr = at,
                            .end_vaddr = at + size,
                            .file_offset = std::uint64_t{i} << 12,
                            .inode_number = i % 3 == 0 ? 0 : 1000 + i,
                            .executable = i % 2});
        // Every fourth mapping is followed by its neighbour without a gap.
        at += size + (i % 4 == 3 ? 0 : 0x3000);
    }
    return mappings;
}

class FindMapping : public HostProcess, public testing::WithParamInterface<std::uint32_t> {};

TEST_P(FindMapping, FindsFirstAndLastByteOfEveryMapping) {
    const auto mappings = spread_mappings(GetParam());
    host_set_process(mappings.data(), GetParam(), 0);
    for (const host_mapping& mapping : mappings) {
        for (const std::uint64_t vaddr : {mapping.start_vaddr, mapping.end_vaddr - 1}) {
            host_mapping found{};
            ASSERT_EQ(host_find_mapping(vaddr, &found), 0) << std::hex << vaddr;
            EXPECT_EQ(found.start_vaddr, mapping.start_vaddr);
            EXPECT_EQ(found.end_vaddr, mapping.end_vaddr);
            EXPECT_EQ(found.file_offset, mapping.file_offset);
            EXPECT_EQ(found.inode_number, mapping.inode_number);
            EXPECT_EQ(found.executable, mapping.executable);
        }
    }
}

TEST_P(FindMapping, FindsNothingBetweenMappings) {
    const auto mappings = spread_mappings(GetParam());
    host_set_process(mappings.data(), GetParam(), 0);
    std::uint64_t end_of_previous = 0;
    for (const host_mapping& mapping : mappings) {
        host_mapping found{};
        if (mapping.start_vaddr != end_of_previous) {
            EXPECT_NE(host_find_mapping(mapping.start_vaddr - 1, &found), 0);
        }
        end_of_previous = mapping.end_vaddr;
    }
    host_mapping found{};
    EXPECT_NE(host_find_mapping(0, &found), 0);
    EXPECT_NE(host_find_mapping(end_of_previous, &found), 0);
    EXPECT_NE(host_find_mapping(~std::uint64_t{0}, &found), 0);
}

TEST_P(FindMapping, FindsTheNextMappingFromAGap) {
    const auto mappings = spread_mappings(GetParam());
    host_set_process(mappings.data(), GetParam(), 0);
    __u64 from = 0;
    for (const host_mapping& mapping : mappings) {
        for (const __u64 vaddr : {from, mapping.start_vaddr, mapping.end_vaddr - 1}) {
            host_mapping found{};
            ASSERT_EQ(host_find_next_mapping(vaddr, &found), 0) << std::hex << vaddr;
            EXPECT_EQ(found.start_vaddr, mapping.start_vaddr);
            EXPECT_EQ(found.end_vaddr, mapping.end_vaddr);
        }
        from = mapping.end_vaddr;
    }
    host_mapping found{};
    constexpr int kNone = 1;
    EXPECT_EQ(host_find_next_mapping(from, &found), kNone);
    EXPECT_EQ(host_find_next_mapping(~std::uint64_t{0}, &found), kNone);
}

// One leaf, one inner level, two inner levels.
INSTANTIATE_TEST_SUITE_P(Sizes, FindMapping, testing::Values(1U, 7U, 40U, 300U));

}  // namespace
}  // namespace bobbin
