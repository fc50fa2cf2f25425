// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "symbolize/name_kernel.h"
#include "unit/symbolize/built_program.h"

namespace bobbin::symbolize {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kProgramId = 7;

abi::frame_word place(std::uint32_t executable_id, std::uint64_t file_offset) {
    return (std::uint64_t{executable_id} << FRAME_EXECUTABLE_SHIFT) | file_offset;
}

aggregate::CountedStack stack_of(std::vector<abi::frame_word> user_frames) {
    aggregate::CountedStack stack;
    stack.owner.pid = 10;
    stack.owner.tid = 11;
    stack.owner.process_comm = "worker";
    stack.owner.thread_comm = "worker/1";
    stack.user_frames = std::move(user_frames);
    stack.count = 1;
    return stack;
}

NamedProfile name(std::vector<aggregate::CountedStack> stacks, const executable::Catalog& catalog,
                  Names names = Names::kResolve) {
    aggregate::CountedStacks counted;
    counted.stacks = std::move(stacks);
    return name_stacks(counted, catalog, {}, names);
}

std::vector<std::string> function_names(const NamedProfile& profile, std::size_t stack = 0) {
    std::vector<std::string> names;
    for (const std::uint32_t location : profile.stacks.at(stack).locations) {
        for (const Line& line : profile.locations.at(location).lines) {
            names.push_back(profile.functions.at(line.function).name);
        }
    }
    return names;
}

// A program with two functions; one with a C++ name.
class NameStacks : public testing::Test {
protected:
    NameStacks() {
        const UniqueFd fd = program_.open();
        const auto file = elf::ElfFile::open(fd.get());
        EXPECT_TRUE(file);
        if (file) segments_ = file->load_segments();
    }

    executable::Executable executable(UniqueFd fd) const {
        executable::Executable result;
        result.id = kProgramId;
        result.path = "/opt/x/program";
        result.file = std::make_shared<executable::HeldFile>(std::move(fd), result.path);
        result.build_id = {std::byte{0xab}, std::byte{0x01}};
        result.segments = segments_;
        return result;
    }

    std::uint64_t vaddr_of(const std::string& symbol) const {
        return test::find_nm(program_.path(), symbol).vaddr;
    }
    abi::frame_word frame_in(const std::string& symbol) const {
        const auto offset = elf::file_offset_of(segments_, vaddr_of(symbol));
        EXPECT_TRUE(offset) << symbol;
        return place(kProgramId, offset.value_or(0));
    }
    std::string unnamed(const std::string& symbol) const {
        return fmt::format("program+{:#x}", vaddr_of(symbol));
    }

    test::BuiltProgram program_{
        "int leaf(void) { return 3; }\n"
        "int scaled(void) __asm__(\"_ZN3app6scaledEi\");\n"
        "int scaled(void) { return leaf(); }\n"
        "int main(void) { return scaled(); }\n",
        "a.c", "-O0 -Wl,-z,separate-code"};
    std::vector<elf::LoadSegment> segments_;
};

TEST_F(NameStacks, NamesUserFramesLeafFirst) {
    executable::Catalog catalog;
    catalog.add(executable(program_.open()));
    const NamedProfile profile = name({stack_of({frame_in("leaf"), frame_in("_ZN3app6scaledEi"),
                                                 frame_in("main") | FRAME_BY_FRAME_POINTER})},
                                      catalog);
    EXPECT_THAT(function_names(profile), ElementsAre("leaf", "app::scaled", "main"));
    const Location& scaled = profile.locations.at(profile.stacks[0].locations[1]);
    EXPECT_TRUE(scaled.is_named);
    EXPECT_FALSE(scaled.is_kernel);
    EXPECT_EQ(scaled.address, vaddr_of("_ZN3app6scaledEi"));
    EXPECT_EQ(profile.functions.at(scaled.lines[0].function).system_name, "_ZN3app6scaledEi");
}

TEST_F(NameStacks, KeepsNamesOfSymbolsWhereNobodyDemangles) {
    executable::Catalog catalog;
    catalog.add(executable(program_.open()));
    aggregate::CountedStacks counted;
    counted.stacks = {stack_of({frame_in("_ZN3app6scaledEi")})};
    NameSources sources;
    std::vector<std::string> asked;
    sources.demangle = [&](std::span<const std::string> names) {
        asked.insert(asked.end(), names.begin(), names.end());
        return std::vector<std::string>();  // as if these names had killed the demangler
    };
    const NamedProfile profile = name_stacks(counted, catalog, {}, Names::kResolve, sources);
    EXPECT_THAT(function_names(profile), ElementsAre("_ZN3app6scaledEi"));
    EXPECT_THAT(asked, ElementsAre("_ZN3app6scaledEi"));
    sources.demangle = nullptr;
    EXPECT_THAT(function_names(name_stacks(counted, catalog, {}, Names::kResolve, sources)),
                ElementsAre("_ZN3app6scaledEi"));
}

TEST_F(NameStacks, GivesOneMappingForTheSegment) {
    executable::Catalog catalog;
    catalog.add(executable(program_.open()));
    const NamedProfile profile = name({stack_of({frame_in("leaf"), frame_in("main")})}, catalog);
    ASSERT_EQ(profile.mappings.size(), 1U);
    const Mapping& mapping = profile.mappings[0];
    EXPECT_EQ(mapping.file, "/opt/x/program");
    EXPECT_EQ(mapping.build_id, "ab01");
    EXPECT_TRUE(mapping.has_functions);
    EXPECT_FALSE(mapping.has_filenames || mapping.has_line_numbers || mapping.has_inline_frames);
    EXPECT_LE(mapping.start_file_vaddr, vaddr_of("leaf"));
    EXPECT_GT(mapping.end_file_vaddr, vaddr_of("leaf"));
    // readelf -lW: "  LOAD  offset vaddr paddr filesize memsize R E align"
    const std::string line = test::output_of("readelf -lW '" + program_.path() +
                                             "' | awk '/LOAD/ && /R E/ {print $2, $3, $6}'");
    EXPECT_EQ(line, fmt::format("0x{:06x} 0x{:016x} 0x{:06x}\n", mapping.file_offset,
                                mapping.start_file_vaddr,
                                mapping.end_file_vaddr - mapping.start_file_vaddr));
}

// step() is inlined into main on line 3: one place, two functions, and the mapping says so.
TEST(NameStacksWithDebugInfo, GivesInlinedFunctionsFilesAndLines) {
    const test::BuiltProgram program(
        "#include <stdlib.h>\n"
        "static inline __attribute__((always_inline)) int step(void) { return rand() * 3; }\n"
        "int main(void) { return step(); }\n",
        "a.c", "-O2 -g");
    const std::uint64_t call_vaddr =
        std::stoull(test::output_of("objdump -d --no-show-raw-insn --disassemble=main '" +
                                    program.path() + "' | grep 'call.*rand'"),
                    nullptr, 16);
    executable::Executable executable;
    executable.id = kProgramId;
    executable.path = program.path();
    executable.segments = elf::ElfFile::open(program.open().get())->load_segments();
    executable.file = std::make_shared<executable::HeldFile>(program.open(), executable.path);
    const auto offset = elf::file_offset_of(executable.segments, call_vaddr);
    ASSERT_TRUE(offset);
    executable::Catalog catalog;
    catalog.add(std::move(executable));

    const NamedProfile profile = name({stack_of({place(kProgramId, *offset)})}, catalog);
    EXPECT_THAT(function_names(profile), ElementsAre("step", "main"));
    const std::vector<Line>& lines = profile.locations.at(0).lines;
    EXPECT_EQ(lines[0].line, 2U);
    EXPECT_EQ(lines[1].line, 3U);
    EXPECT_THAT(profile.functions.at(lines[1].function).file, testing::EndsWith("/a.c"));
    const Mapping& mapping = profile.mappings.at(0);
    EXPECT_TRUE(mapping.has_functions && mapping.has_filenames);
    EXPECT_TRUE(mapping.has_line_numbers && mapping.has_inline_frames);
}

// As pprof's profile.go reads them: "all locations" have files and lines; one function is enough
// for has_functions, because pprof names all anew where no mark is set.
TEST(ProfileTablesMarks, SayWhatEveryLocationOfAMappingHas) {
    const std::vector<NamedFrame> whole = {{"inner", "/a.h", 3, {}}, {"outer", "/a.c", 9, {}}};
    const std::vector<NamedFrame> without_lines = {{"symbol", {}, 0, {}}};
    struct Case {
        std::vector<std::vector<NamedFrame>> locations;
        std::string marks;
    };
    const std::vector<Case> cases = {
        {{whole, whole}, "functions files lines inlined"},
        {{whole, without_lines}, "functions inlined"},
        {{whole, {}}, "functions inlined"},
        {{{{"f", "/a.c", 0, {}}}}, "functions files"},
        {{without_lines}, "functions"},
        {{{}}, ""},
    };
    for (const Case& one : cases) {
        ProfileTables tables(one.locations.size());
        const std::uint32_t mapping = tables.add_mapping({});
        for (std::uint32_t i = 0; i < one.locations.size(); ++i) {
            tables.set_location(i, mapping, 0x1000 + i, one.locations[i]);
        }
        NamedProfile profile;
        tables.move_to(profile);
        std::string marks;
        const auto add = [&](bool is_set, const char* name) {
            if (is_set) marks += (marks.empty() ? "" : " ") + std::string(name);
        };
        add(profile.mappings.at(0).has_functions, "functions");
        add(profile.mappings.at(0).has_filenames, "files");
        add(profile.mappings.at(0).has_line_numbers, "lines");
        add(profile.mappings.at(0).has_inline_frames, "inlined");
        EXPECT_EQ(marks, one.marks);
    }
}

TEST_F(NameStacks, SharesLocationsBetweenStacks) {
    executable::Catalog catalog;
    catalog.add(executable(program_.open()));
    const NamedProfile profile =
        name({stack_of({frame_in("leaf"), frame_in("main")}), stack_of({frame_in("main")}),
              stack_of({frame_in("main") | FRAME_BY_FRAME_POINTER})},
             catalog);
    EXPECT_EQ(profile.locations.size(), 2U);
    EXPECT_EQ(profile.functions.size(), 2U);
    EXPECT_EQ(profile.stacks[1].locations, profile.stacks[2].locations);
}

TEST_F(NameStacks, CallsFramesOfClosedFilesByModuleAndAddress) {
    executable::Catalog catalog;
    catalog.add(executable(UniqueFd()));
    const NamedProfile profile = name({stack_of({frame_in("leaf")})}, catalog);
    EXPECT_THAT(function_names(profile), ElementsAre(unnamed("leaf")));
    EXPECT_FALSE(profile.locations.at(0).is_named);
    EXPECT_FALSE(profile.mappings.at(0).has_functions);
}

TEST_F(NameStacks, SkipsNamesWhenAsked) {
    executable::Catalog catalog;
    catalog.add(executable(program_.open()));
    aggregate::CountedStack stack = stack_of({frame_in("leaf")});
    stack.kernel_frames = {0xffffffff81234567};
    const NamedProfile profile = name({stack}, catalog, Names::kSkip);
    EXPECT_THAT(function_names(profile),
                ElementsAre("[kernel]+0xffffffff81234567", unnamed("leaf")));
}

TEST_F(NameStacks, CostsOneBadFileOnlyItsOwnNames) {
    const test::TemporaryDirectory directory;
    test::put_file(directory / "truncated",
                   "\x7f"
                   "ELF");
    executable::Executable bad =
        executable(UniqueFd(::open((directory / "truncated").c_str(), O_RDONLY | O_CLOEXEC)));
    bad.id = 8;
    executable::Catalog catalog;
    catalog.add(std::move(bad));
    catalog.add(executable(program_.open()));
    const abi::frame_word leaf_in_bad = place(8, frame_in("leaf") & FRAME_FILE_OFFSET_MASK);
    const NamedProfile profile = name({stack_of({leaf_in_bad, frame_in("main")})}, catalog);
    EXPECT_THAT(function_names(profile), ElementsAre(unnamed("leaf"), "main"));
}

TEST_F(NameStacks, KeepsOffsetsInNoSegment) {
    executable::Catalog catalog;
    catalog.add(executable(program_.open()));
    const NamedProfile profile =
        name({stack_of({frame_in("main"), place(kProgramId, 0x12345678)})}, catalog);
    EXPECT_THAT(function_names(profile), ElementsAre("main", "program+0x12345678"));
    EXPECT_EQ(profile.mappings.size(), 2U);
}

TEST(NameStacksWithoutFiles, CallsUnknownFilesSo) {
    const executable::Catalog catalog;
    const NamedProfile profile =
        name({stack_of({place(99, 0x1234), place(EXECUTABLE_ID_VDSO, 0x9a0)})}, catalog);
    EXPECT_THAT(function_names(profile), ElementsAre("[unknown]+0x1234", "[vdso]+0x9a0"));
    EXPECT_EQ(profile.mappings.at(0).file, "[vdso]");
    EXPECT_EQ(profile.mappings.at(1).file, "[unknown]");
}

TEST(NameStacksWithoutFiles, PutsGeneratedCodeInOneMapping) {
    const executable::Catalog catalog;
    const NamedProfile profile =
        name({stack_of({FRAME_IS_ANONYMOUS | 0x7f0000001230ULL,
                        FRAME_IS_ANONYMOUS | FRAME_BY_FRAME_POINTER | 0x7f0000405670ULL})},
             catalog);
    EXPECT_THAT(function_names(profile),
                ElementsAre("[anon]+0x7f0000001230", "[anon]+0x7f0000405670"));
    ASSERT_EQ(profile.mappings.size(), 1U);
    EXPECT_EQ(profile.mappings[0].start_file_vaddr, 0x7f0000001000U);
    EXPECT_EQ(profile.mappings[0].end_file_vaddr, 0x7f0000406000U);
}

TEST(NameStacksWithoutFiles, PutsKernelFramesBeforeUserFrames) {
    const executable::Catalog catalog;
    aggregate::CountedStack stack = stack_of({place(99, 0x10), place(99, 0x20)});
    stack.kernel_frames = {0xffffffff81000200, 0xffffffff81000100};
    const NamedProfile profile = name({stack}, catalog, Names::kSkip);
    EXPECT_THAT(function_names(profile),
                ElementsAre("[kernel]+0xffffffff81000200", "[kernel]+0xffffffff81000100",
                            "[unknown]+0x10", "[unknown]+0x20"));
    EXPECT_TRUE(profile.locations.at(profile.stacks[0].locations[1]).is_kernel);
    EXPECT_FALSE(profile.locations.at(profile.stacks[0].locations[2]).is_kernel);
}

TEST(NameStacksWithoutFiles, CopiesCountsAndOutcomes) {
    aggregate::CountedStacks counted;
    counted.stacks.push_back(stack_of({}));
    counted.stacks.back().count = 5;
    counted.stacks.back().walk_end = abi::WALK_END_NO_CFI;
    counted.sample_count = 5;
    counted.by_walk_end[abi::WALK_END_NO_CFI] = 5;
    const NamedProfile profile = name_stacks(counted, executable::Catalog(), {}, Names::kResolve);
    EXPECT_EQ(profile.sample_count, 5U);
    EXPECT_EQ(profile.by_walk_end[abi::WALK_END_NO_CFI], 5U);
    EXPECT_EQ(profile.stacks.at(0).count, 5U);
    EXPECT_EQ(profile.stacks[0].walk_end, abi::WALK_END_NO_CFI);
    EXPECT_TRUE(profile.stacks[0].locations.empty());
}

TEST(NameStacksWithoutFiles, AsksForLabelsOnceAnOwner) {
    aggregate::CountedStacks counted;
    counted.stacks = {stack_of({place(99, 1)}), stack_of({place(99, 2)}), stack_of({place(99, 1)})};
    counted.stacks[2].owner.cpu = 3;
    std::vector<std::uint32_t> asked_cpus;
    const OwnerLabels labels_of = [&](const aggregate::SampleOwner& owner, SampleLabels& labels) {
        asked_cpus.push_back(owner.cpu);
        labels.unit = "app.service";
    };
    const NamedProfile profile =
        name_stacks(counted, executable::Catalog(), labels_of, Names::kResolve);
    EXPECT_THAT(asked_cpus, ElementsAre(0, 3));
    const SampleLabels expected{.pid = 10,
                                .tid = 11,
                                .cpu = 3,
                                .comm = "worker",
                                .thread = "worker/1",
                                .cgroup = "",
                                .unit = "app.service",
                                .container = ""};
    EXPECT_EQ(profile.stacks.at(2).labels, expected);
    EXPECT_EQ(profile.stacks[0].labels.unit, "app.service");
}

TEST(NameStacksWithoutFiles, MakesAnEmptyProfileOfNothing) {
    const NamedProfile profile = name({}, executable::Catalog());
    EXPECT_TRUE(profile.mappings.empty() && profile.functions.empty() &&
                profile.locations.empty() && profile.stacks.empty());
}

TEST(NameKernelLocations, MakesOneMappingForTheKernelAndOneForEachModule) {
    const test::TemporaryDirectory directory;
    test::put_file(directory / "kallsyms",
                   "ffffffff81000000 T _stext\nffffffff81000100 t do_work\n"
                   "ffffffff82000000 T _etext\nffffffffc0200000 t nft_do_chain\t[absent_module]\n"
                   "ffffffffc0203000 t nft_end\t[absent_module]\n");
    KernelSymbolizer symbolizer(directory / "kallsyms");
    const std::vector<std::uint64_t> addresses = {0xffffffff81000110, 0xffffffff81fffff0,
                                                  0xffffffffc0200010};
    ProfileTables tables(addresses.size());
    name_kernel_locations(addresses, &symbolizer, tables);
    NamedProfile profile;
    tables.move_to(profile);
    ASSERT_EQ(profile.mappings.size(), 2U);
    EXPECT_EQ(profile.mappings[0].file, "[kernel]");
    EXPECT_EQ(profile.mappings[0].start_file_vaddr, 0xffffffff81000000);
    EXPECT_EQ(profile.mappings[0].end_file_vaddr, 0xffffffff82000000);
    EXPECT_EQ(profile.mappings[1].file, "[absent_module]");
    EXPECT_EQ(profile.mappings[1].end_file_vaddr, 0xffffffffc0203001);
    EXPECT_EQ(profile.functions.at(profile.locations.at(2).lines.at(0).function).name,
              "nft_do_chain");
}

}  // namespace
}  // namespace bobbin::symbolize
