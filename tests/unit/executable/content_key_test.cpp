// SPDX-License-Identifier: Apache-2.0
#include "executable/content_key.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "executable/known_tables.h"

namespace bobbin::executable {
namespace {

elf::SectionBytes section(std::size_t bytes, std::uint64_t file_vaddr = 0x1000) {
    return {std::vector<std::byte>(bytes, std::byte{7}), file_vaddr};
}

UnwindSections some_sections() {
    UnwindSections sections;
    sections.eh_frame = section(64);
    sections.debug_frame = section(32);
    return sections;
}

const std::vector<elf::LoadSegment> kSegments(2);

TEST(HashUnwindSections, IsEqualForEqualSectionsAndSegments) {
    ASSERT_TRUE(hash_unwind_sections(some_sections(), kSegments).has_value());
    EXPECT_EQ(hash_unwind_sections(some_sections(), kSegments),
              hash_unwind_sections(some_sections(), kSegments));
}

TEST(HashUnwindSections, ChangesWithEverythingATableIsMadeFrom) {
    const auto before = hash_unwind_sections(some_sections(), kSegments);
    auto sections = some_sections();
    (*sections.eh_frame)->bytes[63] = std::byte{8};
    EXPECT_NE(hash_unwind_sections(sections, kSegments), before) << "a byte";
    sections = some_sections();
    (*sections.eh_frame)->file_vaddr = 0x2000;
    EXPECT_NE(hash_unwind_sections(sections, kSegments), before) << "an address";
    sections = some_sections();
    sections.debug_frame = MaybeSection{};
    EXPECT_NE(hash_unwind_sections(sections, kSegments), before) << "a section less";
    sections = some_sections();
    sections.go_functions = section(0);
    EXPECT_NE(hash_unwind_sections(sections, kSegments), before) << "an empty one more";
    auto moved = kSegments;
    moved[1].file_offset = 0x1000;
    EXPECT_NE(hash_unwind_sections(some_sections(), moved), before) << "a segment";
}

// 96 bytes in two sections: 64 and 32, or 32 and 64.
TEST(HashUnwindSections, TellsWhereOneSectionEnds) {
    UnwindSections sections;
    sections.eh_frame = section(32);
    sections.debug_frame = section(64);
    EXPECT_NE(hash_unwind_sections(sections, kSegments),
              hash_unwind_sections(some_sections(), kSegments));
}

TEST(HashUnwindSections, KnowsNothingOfWhatCouldNotBeRead) {
    auto sections = some_sections();
    sections.debug_frame = fail("it leaves the file");
    EXPECT_FALSE(hash_unwind_sections(sections, kSegments).has_value());
}

// A hostile file may carry the build id of libc.
TEST(KnownTables, AreToldApartByMoreThanTheBuildId) {
    const ContentKey libc{
        .build_id = elf::BuildId(20, std::byte{1}), .size_bytes = 1000, .unwind_hash = {5, 6}};
    KnownTables known;
    known.add(libc, {.executable_id = 7, .row_count = 11, .bytes = 64});
    ASSERT_TRUE(known.find(libc).has_value());
    EXPECT_EQ(known.find(libc)->executable_id, 7U);
    auto other = libc;
    other.unwind_hash[1] = 7;
    EXPECT_FALSE(known.find(other).has_value());
    other = libc;
    other.size_bytes = 1001;
    EXPECT_FALSE(known.find(other).has_value());
    other = libc;
    other.build_id.clear();
    EXPECT_FALSE(known.find(other).has_value());
    known.remove(libc);
    EXPECT_FALSE(known.find(libc).has_value());
}

}  // namespace
}  // namespace bobbin::executable
