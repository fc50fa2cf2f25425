// SPDX-License-Identifier: Apache-2.0
// Names of Go programs against those that Go's own tools and their DWARF give.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "golden/dwarf_llvm_frames.h"
#include "golden/go_addr2line.h"
#include "support/child_process.h"
#include "support/fixture_test_name.h"
#include "support/temporary_directory.h"
#include "symbolize/go_symbolizer.h"
#include "symbolize/name_object.h"

namespace bobbin::test {
namespace {

using symbolize::NamedFrame;
using symbolize::NamesOfEach;

constexpr std::uint64_t kShown = 5;

std::string describe(const std::vector<NamedFrame>& frames) {
    std::string text;
    for (const NamedFrame& frame : frames) {
        text += fmt::format("{} {}:{}; ", frame.system_name, frame.file, frame.line);
    }
    return text;
}

class GoProgramNames : public testing::TestWithParam<std::string> {
protected:
    static std::string program() { return std::string(BOBBIN_FIXTURES_DIR) + "/" + GetParam(); }
    [[nodiscard]] std::string scratch() const { return scratch_.path().string(); }

    static NamesOfEach names(const std::vector<std::uint64_t>& addresses) {
        const UniqueFd fd(::open(program().c_str(), O_RDONLY | O_CLOEXEC));
        auto object = symbolize::name_object(fd.get(), program(), addresses);
        EXPECT_TRUE(object.has_value());
        return object ? std::move(object->names) : NamesOfEach(addresses.size());
    }

    static NamesOfEach go_names(const std::string& path,
                                const std::vector<std::uint64_t>& addresses) {
        const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        const auto file = elf::ElfFile::open(fd.get());
        EXPECT_TRUE(file.has_value()) << path;
        if (!file) return NamesOfEach(addresses.size());
        auto names = symbolize::GoSymbolizer(*file).name(addresses);
        EXPECT_TRUE(names.has_value()) << path;
        return names ? std::move(*names) : NamesOfEach(addresses.size());
    }

private:
    TemporaryDirectory scratch_;
};

// It prints the function's name, but the file and line of what was inlined there.
bool agrees(const std::vector<NamedFrame>& ours, const GoPlace& theirs) {
    return !ours.empty() && ours.back().system_name == theirs.function &&
           ours.front().file == theirs.file && ours.front().line == theirs.line;
}

TEST_P(GoProgramNames, AreThoseOfAddr2line) {
    const std::vector<std::uint64_t> addresses = text_addresses(program());
    const NamesOfEach ours = names(addresses);
    const std::vector<GoPlace> theirs = go_places(program(), scratch(), addresses);
    ASSERT_EQ(theirs.size(), addresses.size());
    std::uint64_t compared = 0;
    std::uint64_t different = 0;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (theirs[i].function == "?") continue;  // C
        ++compared;
        if (agrees(ours[i], theirs[i])) continue;
        if (++different <= kShown) {
            ADD_FAILURE() << fmt::format("{:#x}: {} but addr2line has {} {}:{}", addresses[i],
                                         describe(ours[i]), theirs[i].function, theirs[i].file,
                                         theirs[i].line);
        }
    }
    fmt::print("{}: {} addresses, {} of Go, {} different\n", GetParam(), addresses.size(), compared,
               different);
    EXPECT_EQ(different, 0U);
    EXPECT_GT(compared, 10000U);
}

TEST_P(GoProgramNames, StayTheSameWhenTheProgramIsStripped) {
    const std::string stripped = scratch() + "/stripped";
    const FinishedProcess strip = run_process({"strip", "-o", stripped, program()});
    ASSERT_EQ(strip.exit_status, 0) << strip.standard_error;
    const std::vector<std::uint64_t> addresses = text_addresses(program());
    const NamesOfEach before = go_names(program(), addresses);
    const NamesOfEach after = go_names(stripped, addresses);
    std::uint64_t named = 0;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        named += before[i].empty() ? 0 : 1;
        ASSERT_EQ(describe(before[i]), describe(after[i])) << fmt::format("{:#x}", addresses[i]);
    }
    EXPECT_GT(named, 10000U);
}

// Symbols tell assembly (".abi0") and instances of a generic function apart, which Go's tables do
// not; and have a dot for the one that a name of the compiler's own has in the middle of a line.
std::string spelled_like_go(std::string name) {
    constexpr std::string_view kMiddleDot = "\u00b7";
    if (name.ends_with(".abi0")) name.resize(name.size() - 5);
    const std::size_t open = name.find('[');
    const std::size_t close = name.rfind(']');
    if (open != std::string::npos && close != std::string::npos && open < close) {
        name.replace(open, close - open + 1, "[...]");
    }
    for (std::size_t dot = name.find(kMiddleDot); dot != std::string::npos;
         dot = name.find(kMiddleDot)) {
        name.replace(dot, kMiddleDot.size(), ".");
    }
    return name;
}

// Of the place of what the compiler made up itself DWARF says one thing or another, or nothing; and
// it makes paths of names of files that cgo made up.
bool is_same(const NamedFrame& ours, const OracleFrame& theirs) {
    if (spelled_like_go(ours.system_name) != spelled_like_go(theirs.function)) return false;
    if (ours.file == "<autogenerated>") return true;
    const bool is_same_file = ours.file == theirs.file || "./" + ours.file == theirs.file;
    return is_same_file && ours.line == theirs.line;
}

struct InlinedTally {
    std::uint64_t compared = 0;
    std::uint64_t inlined = 0;
    std::uint64_t different = 0;

    void add(std::uint64_t address, const std::vector<NamedFrame>& ours,
             const std::vector<OracleFrame>& theirs) {
        ++compared;
        inlined += ours.size() > 1 ? 1 : 0;
        if (std::ranges::equal(ours, theirs, is_same) || ++different > kShown) return;
        fmt::print("{:#x}: {}\n  llvm-symbolizer:", address, describe(ours));
        for (const OracleFrame& frame : theirs) {
            fmt::print(" {} {}:{};", frame.function, frame.file, frame.line);
        }
        fmt::print("\n");
    }
};

// What was inlined, by the program's DWARF. Go before 1.19 forgets there what was inlined into a
// method that it made up itself.
TEST_P(GoProgramNames, HaveTheInlinedFunctionsOfDwarf) {
    const std::vector<std::uint64_t> addresses = text_addresses(program());
    const NamesOfEach ours = go_names(program(), addresses);
    const auto theirs = llvm_frames(program(), scratch(), addresses);
    ASSERT_EQ(theirs.size(), addresses.size());
    InlinedTally tally;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (ours[i].empty() || ours[i].front().line == 0) continue;
        tally.add(addresses[i], ours[i], theirs[i]);
    }
    fmt::print("{}: {} addresses, {} in inlined code, {} different\n", GetParam(), tally.compared,
               tally.inlined, tally.different);
    EXPECT_LT(tally.different, tally.compared / 1000);
    EXPECT_GT(tally.inlined, 5000U);
}

INSTANTIATE_TEST_SUITE_P(Of, GoProgramNames,
                         testing::Values("go_chain.exe", "go_chain.pie", "go_cgo.exe",
                                         "go_cgo.pie"),
                         fixture_test_name);

std::uint64_t vaddr_of(const std::string& program, const std::string& function) {
    const UniqueFd fd(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
    const auto file = elf::ElfFile::open(fd.get());
    const auto symbols = file->read_function_symbols();
    const auto found = std::ranges::find(*symbols, function, &elf::Symbol::name);
    EXPECT_NE(found, symbols->end()) << function;
    return found == symbols->end() ? 0 : found->file_vaddr;
}

TEST(GoProgramWithC, HasTheNamesOfBothLanguages) {
    const std::string program = std::string(BOBBIN_FIXTURES_DIR) + "/go_cgo.exe";
    std::vector<std::uint64_t> addresses = {vaddr_of(program, "c_middle"),
                                            vaddr_of(program, "main.innerLink")};
    const bool c_is_first = addresses[0] < addresses[1];
    std::ranges::sort(addresses);
    const UniqueFd fd(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
    const auto object = symbolize::name_object(fd.get(), program, addresses);
    ASSERT_TRUE(object.has_value());
    const auto& of_c = object->names[c_is_first ? 0 : 1];
    const auto& of_go = object->names[c_is_first ? 1 : 0];
    ASSERT_FALSE(of_c.empty());
    ASSERT_FALSE(of_go.empty());
    EXPECT_EQ(of_c.back().system_name, "c_middle");
    EXPECT_EQ(of_go.back().system_name, "main.innerLink");
    EXPECT_TRUE(of_go.back().file.ends_with("/go_cgo.go")) << of_go.back().file;
}

}  // namespace
}  // namespace bobbin::test
