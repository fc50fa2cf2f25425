// SPDX-License-Identifier: Apache-2.0
#include "pclntab/names.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pclntab/module_data.h"
#include "unit/pclntab/table_builder.h"

namespace bobbin::pclntab {
namespace {

using test::TableBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kText = TableBuilder::kTextStart;
constexpr std::uint64_t kTrees = 0x500000;

// Pairs of (value delta, zigzag; bytes of code), from -1 on: zigzag of 1 is 2, of -1 is 1.
const TableBuilder::Values kDepths = {2, 64, 0};            // 0 for 64 bytes
const TableBuilder::Values kFirstFile = {2, 64, 0};         // file 0 for 64 bytes
const TableBuilder::Values kTwoLines = {22, 16, 2, 48, 0};  // line 10 for 16 bytes, then 11 for 48

// "function file:line", innermost first.
std::vector<std::string> flat(const std::vector<Frame>& frames) {
    std::vector<std::string> lines;
    for (const Frame& frame : frames) {
        lines.push_back(fmt::format("{} {}:{}", frame.function, frame.file, frame.line));
    }
    return lines;
}

std::vector<std::string> names_at(const std::vector<std::byte>& section, std::uint64_t from_text,
                                  const InlineTrees& trees = {}) {
    const auto table = FunctionTable::open(section);
    EXPECT_TRUE(table.has_value());
    if (!table) return {};
    const std::vector<std::uint64_t> addresses = {kText + from_text};
    return flat(name_addresses(*table, trees, addresses).front());
}

TableBuilder::Entry entry(const std::string& name, std::uint32_t start) {
    return {
        .name = name, .start = start, .depths = kDepths, .files = kFirstFile, .lines = kTwoLines};
}

TEST(NameAddresses, FindsFunctionFileAndLine) {
    const auto section = TableBuilder()
                             .add_file("/a/f.go")
                             .add(entry("main.f", 0))
                             .add(entry("main.g", 64))
                             .build(128);
    EXPECT_THAT(names_at(section, 0), ElementsAre("main.f /a/f.go:10"));
    EXPECT_THAT(names_at(section, 15), ElementsAre("main.f /a/f.go:10"));
    EXPECT_THAT(names_at(section, 16), ElementsAre("main.f /a/f.go:11"));
    EXPECT_THAT(names_at(section, 63), ElementsAre("main.f /a/f.go:11"));
    EXPECT_THAT(names_at(section, 64), ElementsAre("main.g /a/f.go:10"));
}

TEST(NameAddresses, HasNoNamesOutsideTheTable) {
    const auto section = TableBuilder().add_file("/a/f.go").add(entry("main.f", 16)).build(64);
    EXPECT_THAT(names_at(section, 15), IsEmpty());
    EXPECT_THAT(names_at(section, 64), IsEmpty());
}

// Padding up to the next function, as C that the linker took in, has a name only.
TEST(NameAddresses, HasNoLineWhereTheTablesEnd) {
    TableBuilder::Entry c_function{.name = "c_function", .start = 80, .depths = {}};
    const auto section =
        TableBuilder().add_file("/a/f.go").add(entry("main.f", 0)).add(c_function).build(128);
    EXPECT_THAT(names_at(section, 64), ElementsAre("main.f :0"));
    EXPECT_THAT(names_at(section, 80), ElementsAre("c_function :0"));
}

TEST(NameAddresses, KeepsNamesWhole) {
    const std::string name = "main." + std::string(300, 'f');
    const auto section = TableBuilder().add_file("/a/f.go").add(entry(name, 0)).build(64);
    EXPECT_THAT(names_at(section, 0), ElementsAre(name + " /a/f.go:10"));
}

TEST(NameAddresses, AnswersAddressesOfManyFunctionsAtOnce) {
    const auto section = TableBuilder()
                             .add_file("/a/f.go")
                             .add(entry("main.f", 0))
                             .add(entry("main.g", 64))
                             .build(128);
    const auto table = FunctionTable::open(section);
    ASSERT_TRUE(table.has_value());
    const std::vector<std::uint64_t> addresses = {kText - 1,  kText,      kText,
                                                  kText + 20, kText + 64, kText + 128};
    const auto names = name_addresses(*table, {}, addresses);
    ASSERT_EQ(names.size(), addresses.size());
    EXPECT_THAT(names[0], IsEmpty());
    EXPECT_THAT(flat(names[1]), ElementsAre("main.f /a/f.go:10"));
    EXPECT_THAT(flat(names[2]), ElementsAre("main.f /a/f.go:10"));
    EXPECT_THAT(flat(names[3]), ElementsAre("main.f /a/f.go:11"));
    EXPECT_THAT(flat(names[4]), ElementsAre("main.g /a/f.go:10"));
    EXPECT_THAT(names[5], IsEmpty());
}

// main.f has at [16, 64) what was inlined: main.outer, called at line 10 by main.f, which begins
// with its own code; from 32 on main.inner, called by main.outer.
class NameInlinedCalls : public testing::Test {
protected:
    struct Call {
        std::uint32_t name = 0;
        std::uint32_t parent_pc = 0;
    };

    static std::vector<std::byte> tree_of(const std::vector<Call>& calls) {
        std::vector<std::byte> bytes;
        for (const Call& call : calls) {
            TableBuilder::put(bytes, std::uint32_t{0});  // funcID, three of padding
            TableBuilder::put(bytes, call.name);
            TableBuilder::put(bytes, call.parent_pc);
            TableBuilder::put(bytes, std::uint32_t{1});  // startLine
        }
        return bytes;
    }

    std::vector<std::byte> build(std::uint32_t tree) {
        TableBuilder::Entry function = entry("main.f", 0);
        function.lines = {22, 16, 80, 16, 80, 32, 0};  // 10, then 50, then 90
        function.calls = {0, 16, 2, 16, 2, 32, 0};     // -1, then 0, then 1
        function.tree = tree;
        return builder_.add_file("/a/f.go").add(function).build(64);
    }

    TableBuilder builder_;
    std::uint32_t outer_ = builder_.add_name("main.outer");
    std::uint32_t inner_ = builder_.add_name("main.inner");
};

TEST_F(NameInlinedCalls, FollowsTheInstructionsOfTheCallsOutwards) {
    const auto tree = tree_of({{outer_, 4}, {inner_, 20}});
    const auto section = build(0x10);
    const InlineTrees trees{tree, kTrees + 0x10, kTrees, {}};
    EXPECT_THAT(names_at(section, 0, trees), ElementsAre("main.f /a/f.go:10"));
    EXPECT_THAT(names_at(section, 16, trees),
                ElementsAre("main.outer /a/f.go:50", "main.f /a/f.go:10"));
    EXPECT_THAT(names_at(section, 40, trees),
                ElementsAre("main.inner /a/f.go:90", "main.outer /a/f.go:50", "main.f /a/f.go:10"));
}

TEST_F(NameInlinedCalls, CountsThemAsTheFunctionWhereTheirTreeIsNotKnown) {
    EXPECT_THAT(names_at(build(0), 40), ElementsAre("main.f /a/f.go:90"));
}

TEST_F(NameInlinedCalls, LeavesOutThoseWhoseTreeLeavesTheBytes) {
    const auto tree = tree_of({{outer_, 4}});
    for (const std::uint32_t offset : {0U, 0x10U, 0x20U, 0xfffffff0U}) {
        const auto names = names_at(build(offset), 40, {tree, kTrees + 0x10, kTrees, {}});
        EXPECT_THAT(names, ElementsAre("main.f /a/f.go:90")) << offset;
    }
}

TEST_F(NameInlinedCalls, EndsWhereCallsGoRoundInCircles) {
    const auto tree = tree_of({{outer_, 40}, {inner_, 20}});
    const auto names = names_at(build(0), 40, {tree, kTrees, kTrees, {}});
    EXPECT_EQ(names.size(), kMaxInlinedCalls + 1);
    EXPECT_THAT(names.back(), testing::StartsWith("main.f "));
}

TEST(InlineLayout, HasTheNumbersOfEachVersion) {
    EXPECT_EQ(inline_layout(Version::kGo12, false).tree, 2U);
    EXPECT_EQ(inline_layout(Version::kGo12, true).tree, 4U);
    EXPECT_TRUE(inline_layout(Version::kGo116, true).has_addresses);
    EXPECT_EQ(inline_layout(Version::kGo118, true).call_bytes, 20U);
    EXPECT_EQ(inline_layout(Version::kGo120, true).call_bytes, 16U);
}

TEST(FindModuleData, FindsTheAddressesOfTheTableAndOfItsNames) {
    const auto section = TableBuilder().add(entry("main.f", 0)).build(64);
    const auto table = FunctionTable::open(section);
    ASSERT_TRUE(table.has_value());
    constexpr std::uint64_t kTable = 0x480000;
    std::vector<std::byte> data;
    // The table's address alone may stand anywhere.
    for (const std::uint64_t word : {std::uint64_t{1}, kTable, kTable, kTable + 72, kTable}) {
        TableBuilder::put(data, word);
    }
    EXPECT_EQ(find_module_data(data, *table, kTable), 16U);
    EXPECT_EQ(find_module_data(data, *table, kTable + 8), std::nullopt);
    EXPECT_EQ(find_module_data({}, *table, kTable), std::nullopt);
}

}  // namespace
}  // namespace bobbin::pclntab
