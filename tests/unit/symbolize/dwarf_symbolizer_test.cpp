// SPDX-License-Identifier: Apache-2.0
#include "symbolize/dwarf_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "symbolize/find_debug_file.h"
#include "unit/symbolize/built_program.h"

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

// square() is inlined into work() on line 3, work() calls rand on its own, too.
constexpr const char* kSource =
    "#include <stdlib.h>\n"
    "static inline __attribute__((always_inline)) int square(int x) { return x * rand(); }\n"
    "__attribute__((noinline)) int work(int x) { return square(x) + 1; }\n"
    "int main(void) { return work(2); }\n";

class DwarfSymbolizerTest : public testing::Test {
protected:
    std::vector<NamedFrame> frames_at(std::uint64_t vaddr, DwarfOptions options = {}) {
        const UniqueFd fd = program_.open();
        const auto file = elf::ElfFile::open(fd.get());
        EXPECT_TRUE(file);
        DwarfSymbolizer symbolizer(fd.get(), *file, program_.path(), std::move(options));
        const std::vector<std::uint64_t> addresses = {vaddr};
        auto names = symbolizer.name(addresses);
        EXPECT_TRUE(names);
        quality_ = symbolizer.quality();
        return names ? names->at(0) : std::vector<NamedFrame>();
    }

    // The call of rand inside of work, by objdump: what square became.
    std::uint64_t call_of_rand() {
        const std::string line =
            test::output_of("objdump -d --no-show-raw-insn --disassemble=work '" + program_.path() +
                            "' | grep 'call.*rand' | head -1");
        return std::stoull(line, nullptr, 16);
    }

    static std::vector<std::string> names_of(const std::vector<NamedFrame>& frames) {
        std::vector<std::string> names;
        for (const NamedFrame& frame : frames) names.push_back(frame.system_name);
        return names;
    }

    test::BuiltProgram program_{kSource, "a.c", "-O2 -g"};
    DwarfQuality quality_;
};

TEST_F(DwarfSymbolizerTest, GivesWhatWasInlinedFirst) {
    const std::vector<NamedFrame> frames = frames_at(call_of_rand());
    ASSERT_THAT(names_of(frames), ElementsAre("square", "work"));
    EXPECT_THAT(frames[0].file, EndsWith("/a.c"));
    EXPECT_EQ(frames[0].line, 2U);
    EXPECT_EQ(frames[1].line, 3U);
    EXPECT_TRUE(quality_.has_debug_info);
}

TEST_F(DwarfSymbolizerTest, GivesNoMoreThanWasAskedFor) {
    const std::vector<NamedFrame> lines =
        frames_at(call_of_rand(), {.detail = SymbolDetail::kLines});
    ASSERT_THAT(names_of(lines), ElementsAre("work"));
    EXPECT_EQ(lines[0].line, 2U);
    const std::vector<NamedFrame> names =
        frames_at(call_of_rand(), {.detail = SymbolDetail::kNames});
    ASSERT_THAT(names_of(names), ElementsAre("work"));
    EXPECT_EQ(names[0].file, "");
}

TEST_F(DwarfSymbolizerTest, KeepsNamesWhenTheTimeIsOver) {
    const std::vector<NamedFrame> frames =
        frames_at(call_of_rand(), {.time_limit = std::chrono::milliseconds(0)});
    EXPECT_THAT(names_of(frames), ElementsAre("work"));
    EXPECT_TRUE(quality_.is_out_of_time);
}

TEST_F(DwarfSymbolizerTest, FindsADebugFileByItsBuildId) {
    const std::uint64_t vaddr = call_of_rand();
    const test::TemporaryDirectory debug;
    const std::string id = test::output_of("readelf -n '" + program_.path() +
                                           "' | sed -n 's/.*Build ID: //p' | tr -d '\\n'");
    ASSERT_GE(id.size(), 8U);
    const std::string directory = debug / ".build-id" / id.substr(0, 2);
    const std::string path = directory + "/" + id.substr(2) + ".debug";
    test::output_of("mkdir -p '" + directory + "' && objcopy --only-keep-debug '" +
                    program_.path() + "' '" + path + "' && strip '" + program_.path() + "'");
    EXPECT_THAT(frames_at(vaddr, {.debug_directories = {}}), IsEmpty()) << "stripped";
    EXPECT_THAT(names_of(frames_at(vaddr, {.debug_directories = {debug.path()}})),
                ElementsAre("square", "work"));
}

// Another build's file of the same name: lines of it would be wrong.
TEST_F(DwarfSymbolizerTest, RefusesADebugFileOfAnotherBuild) {
    const std::uint64_t vaddr = call_of_rand();
    const test::BuiltProgram other("int main(void) { return 3; }\n", "b.c", "-O2 -g");
    test::output_of("objcopy --add-gnu-debuglink='" + other.path() + "' --strip-debug '" +
                    program_.path() + "' && cp '" + other.path() + "' '" + program_.path() +
                    ".debug'");
    const std::vector<NamedFrame> frames = frames_at(vaddr);
    ASSERT_THAT(names_of(frames), ElementsAre("work"));
    EXPECT_EQ(frames[0].file, "");
    EXPECT_FALSE(quality_.has_debug_info);
}

TEST(OpenRegularFile, DoesNotOpenWhatIsNoFile) {
    EXPECT_FALSE(open_regular_file("/dev/null").is_open());
    EXPECT_FALSE(open_regular_file("/").is_open());
    EXPECT_FALSE(open_regular_file("/nonexistent/x").is_open());
    EXPECT_TRUE(open_regular_file("/proc/self/exe").is_open());
}

}  // namespace
}  // namespace bobbin::symbolize
