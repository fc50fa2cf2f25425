// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sampler/mapping_self_test.h"

namespace bobbin::sampler {
namespace {

TEST(ParseProcMaps, ReadsLinesWhateverThePathHolds) {
    const auto mappings = parse_proc_maps(
        "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/with two  spaces (deleted)\n"
        "7ffd8d5c4000-7ffd8d5e5000 rw-p 00000000 00:00 0                          [stack]\n"
        "not a mapping\n");
    ASSERT_EQ(mappings.size(), 2U);
    EXPECT_EQ(mappings[0].start_vaddr, 0x400000U);
    EXPECT_EQ(mappings[0].end_vaddr, 0x452000U);
    EXPECT_EQ(mappings[0].file_offset, 0x1000U);
    EXPECT_TRUE(mappings[0].has_file);
    EXPECT_FALSE(mappings[1].has_file);
}

}  // namespace
}  // namespace bobbin::sampler
