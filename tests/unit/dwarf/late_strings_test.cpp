// SPDX-License-Identifier: Apache-2.0
#include "dwarf/late_strings.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace bobbin::dwarf {
namespace {

class OrderedSource final : public SectionSource {
public:
    explicit OrderedSource(std::string text) : text_(std::move(text)) {}

    [[nodiscard]] std::uint64_t size_bytes() const override { return text_.size(); }
    bool read(std::uint64_t offset, std::span<std::byte> target) override {
        offsets.push_back(offset);
        std::memcpy(target.data(), text_.data() + offset, target.size());
        return true;
    }

    std::vector<std::uint64_t> offsets;

private:
    std::string text_;
};

TEST(LateStrings, AreReadInTheOrderOfTheirSectionAndEachOnce) {
    const auto source =
        std::make_shared<OrderedSource>(std::string("one\0two\0three\0", 14) + "four");
    Section section(source);
    section.set_whole_bytes(0);
    section.set_window_bytes(6);
    LateStrings strings;
    const std::uint32_t three = strings.number_of(section, 8);
    const std::uint32_t one = strings.number_of(section, 0);
    const std::uint32_t again = strings.number_of(section, 8);
    const std::uint32_t given = strings.number_of("given");
    const std::uint32_t without_end = strings.number_of(section, 14);
    EXPECT_TRUE(source->offsets.empty());
    strings.read();
    EXPECT_EQ(strings[three], "three");
    EXPECT_EQ(strings[one], "one");
    EXPECT_EQ(strings[again], "three");
    EXPECT_EQ(strings[given], "given");
    EXPECT_EQ(strings[without_end], "");
    EXPECT_EQ(strings[0], "");
    ASSERT_GE(source->offsets.size(), 2U);
    EXPECT_EQ(source->offsets[0], 0U);
    EXPECT_EQ(source->offsets[1], 8U);
}

TEST(LateStrings, ReadsWhatWasAddedSinceTheLastTime) {
    const std::string text("one\0two\0", 8);
    Section section(std::as_bytes(std::span(text)));
    LateStrings strings;
    const std::uint32_t two = strings.number_of(section, 4);
    strings.read();
    const std::uint32_t one = strings.number_of(section, 0);
    strings.read();
    EXPECT_EQ(strings[two], "two");
    EXPECT_EQ(strings[one], "one");
}

TEST(LateStrings, TakesAnEmptyTextForNone) {
    LateStrings strings;
    EXPECT_EQ(strings.number_of(""), 0U);
}

}  // namespace
}  // namespace bobbin::dwarf
