// SPDX-License-Identifier: Apache-2.0
#include "dwarf/section.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace bobbin::dwarf {
namespace {

// Text in "a file", with what was read of it.
class CountingSource final : public SectionSource {
public:
    explicit CountingSource(std::string text) : text_(std::move(text)) {}

    [[nodiscard]] std::uint64_t size_bytes() const override { return text_.size(); }
    bool read(std::uint64_t offset, std::span<std::byte> target) override {
        if (offset > text_.size() || target.size() > text_.size() - offset) return false;
        std::memcpy(target.data(), text_.data() + offset, target.size());
        largest_read = std::max(largest_read, target.size());
        ++reads;
        return true;
    }

    std::size_t reads = 0;
    std::size_t largest_read = 0;

private:
    std::string text_;
};

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Section, ReadsOnlyAWindowOfItsSource) {
    const auto source = std::make_shared<CountingSource>(std::string(1U << 20, 'x') + "end");
    Section section(source);
    section.set_window_bytes(64);
    EXPECT_EQ(text_of(section.view((1U << 20) - 1, 2)), "xe");
    EXPECT_EQ(text_of(section.view(1U << 20, 3)), "end");
    EXPECT_EQ(source->reads, 1U);
    EXPECT_LE(source->largest_read, 64U);
}

TEST(Section, CutsAViewOffAtItsEnd) {
    Section section(std::make_shared<CountingSource>("0123456789"));
    EXPECT_EQ(text_of(section.view(8, 100)), "89");
    EXPECT_TRUE(section.view(10, 1).empty());
    EXPECT_TRUE(section.view(~std::uint64_t{0}, 1).empty());
    EXPECT_TRUE(section.view(0, Section::kMaxViewBytes + 1).empty());
}

TEST(Section, FindsTheEndOfAStringBehindTheWindow) {
    const std::string long_name(5000, 'n');
    Section section(std::make_shared<CountingSource>("head" + long_name + '\0' + "tail"));
    section.set_window_bytes(16);
    EXPECT_EQ(section.c_string(4), long_name);
    EXPECT_EQ(section.c_string(4 + 5000), "");
    EXPECT_EQ(section.c_string(4 + 5001), "") << "a string without a zero is none";
}

TEST(Section, CopiesLookAtTheSameSourceThroughTheirOwnWindow) {
    Section section(std::make_shared<CountingSource>("0123456789"));
    section.set_window_bytes(2);
    const std::span<const std::byte> first = section.view(0, 2);
    Section other = section;
    EXPECT_EQ(text_of(other.view(6, 2)), "67");
    EXPECT_EQ(text_of(first), "01");
    EXPECT_EQ(section.number(0, 2), 0x3130U);
}

}  // namespace
}  // namespace bobbin::dwarf
