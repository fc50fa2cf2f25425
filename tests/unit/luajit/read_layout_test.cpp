// SPDX-License-Identifier: Apache-2.0
#include "luajit/read_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "luajit/vm_names.h"
#include "unit/luajit/built_vm.h"

namespace bobbin::luajit {
namespace {

using test::Build;
using test::BuiltVm;
using test::Numbers;
using testing::HasSubstr;

// What was told to the assembler is what is read out of what it made; nm knows the places.
void expect_read_back(const Build& build) {
    const BuiltVm vm(build);
    const auto found = vm.find();
    ASSERT_EQ(test::problem_of(found), "");
    ASSERT_TRUE(found->has_value());
    const VmLayout& layout = **found;
    const Numbers numbers = build.numbers();
    EXPECT_EQ(layout.is_gc64, build.is_gc64);
    EXPECT_EQ(layout.cframe_bytes, numbers.at("cframe_bytes"));
    for (const OffsetName& entry : kOffsetNames) {
        EXPECT_EQ(layout.offsets.*entry.offset, numbers.at(std::string(entry.name))) << entry.name;
    }
    const Numbers labels = vm.labels();
    const auto label = [&](std::string_view name) {
        const auto at = labels.find(std::string(name));
        return at == labels.end() ? 0U : static_cast<std::uint64_t>(at->second);
    };
    EXPECT_EQ(layout.places.begin_file_vaddr, label("vm_begin"));
    EXPECT_EQ(layout.places.end_file_vaddr, label("vm_end"));
    EXPECT_EQ(layout.places.trace_exit_file_vaddr, label("trace_exit"));
    for (const PlaceName& entry : kPlaceNames) {
        EXPECT_EQ(layout.places.*entry.file_vaddr, label(entry.name)) << entry.name;
    }
}

TEST(ReadLayout, ReadsAVmWith64BitReferences) { expect_read_back({.is_gc64 = true}); }
TEST(ReadLayout, ReadsAVmWith32BitReferences) { expect_read_back({.is_gc64 = false}); }

TEST(ReadLayout, ReadsAVmThatSavesSixRegisters) {
    for (const bool is_gc64 : {true, false}) {
        expect_read_back({.is_gc64 = is_gc64,
                          .flags = {"SIX_REGISTERS", "NO_CFI"},
                          .changed = {{"cframe_bytes", 96}}});
    }
}

TEST(ReadLayout, FindsTheAssemblyWithoutUnwindInformation) {
    expect_read_back({.is_gc64 = true, .flags = {"NO_CFI"}});
    expect_read_back({.is_gc64 = false, .flags = {"NO_CFI"}});
}

TEST(ReadLayout, ReadsAVmThatMarksItsBranchTargets) {
    expect_read_back({.is_gc64 = true, .flags = {"ENDBR"}});
}

TEST(ReadLayout, ReadsAVmWithoutFfi) {
    expect_read_back({.is_gc64 = true, .flags = {"NO_FFI"}});
    expect_read_back({.is_gc64 = false, .flags = {"NO_FFI"}});
}

// Tarantool saves the VM's state in each C frame, and its exit state is the sixth of nine.
TEST(ReadLayout, ReadsTheVmOfTarantool) {
    for (const bool is_gc64 : {true, false}) {
        const Build build{.is_gc64 = is_gc64,
                          .flags = {"TARANTOOL"},
                          .changed = {{"frame_space", 0x38},
                                      {"cframe_bytes", 96},
                                      {"cframe_previous", 48},
                                      {"exit_vm_state", ~5}}};
        expect_read_back(build);
        EXPECT_EQ((*BuiltVm(build).find())->states, VmStates::kTarantool);
    }
    EXPECT_EQ((*BuiltVm({}).find())->states, VmStates::kUpstream);
}

std::string problem_with(std::vector<std::string> flags, Numbers changed = {}) {
    return test::problem_of(BuiltVm({true, std::move(flags), std::move(changed)}).find());
}

TEST(ReadLayout, SaysWhichCodeIsMissing) {
    EXPECT_THAT(problem_with({"WITHOUT_PCALL"}), HasSubstr("vm_pcall is not there"));
    EXPECT_THAT(problem_with({"WITHOUT_FUNCC"}), HasSubstr("BC_FUNCC is not there"));
    EXPECT_THAT(problem_with({"WITHOUT_UNWIND_C"}), HasSubstr("vm_unwind_c is not there"));
    EXPECT_THAT(problem_with({"WITHOUT_TRACE_ENTRY"}), HasSubstr("BC_JLOOP is not there"));
    EXPECT_THAT(problem_with({"NO_CFI", "WITHOUT_FIRST_HANDLER"}),
                HasSubstr("BC_ISLT is not there"));
}

TEST(ReadLayout, SaysWhichCodeIsThereTwice) {
    EXPECT_THAT(problem_with({"TWICE_TRACE_ENTRY"}), HasSubstr("BC_JLOOP is there twice"));
    EXPECT_THAT(problem_with({"TWICE_CALL"}), HasSubstr("several LuaJIT VMs"));
}

TEST(ReadLayout, RefusesTwoValuesOfOneOffset) {
    EXPECT_THAT(problem_with({"CONTRADICTION"}), HasSubstr("function_pc = 32"));
}

TEST(ReadLayout, RefusesAnUnknownVmState) {
    EXPECT_THAT(problem_with({}, {{"exit_vm_state", ~4}}), HasSubstr("state of a trace exit is 4"));
}

// One offset at a time, moved by 16 bytes: each is held by some relation to another, but for those
// below.
TEST(ReadLayout, RefusesOffsetsThatDoNotFitEachOther) {
    for (const auto& [name, value] : test::offsets_of(true)) {
        const bool is_free = name == "cframe_pc" || name == "vm_state" || name == "current_state" ||
                             name == "jit_base" || name == "jit_state" || name == "jit_traces" ||
                             name == "dispatch" || name == "trace_machine_code" ||
                             name == "state_cframe" || name == "cframe_state";
        if (is_free) continue;
        EXPECT_NE(problem_with({}, {{name, value + 16}}), "") << name;
    }
}

TEST(ReadLayout, RefusesOffsetsInTheWrongOrder) {
    EXPECT_THAT(problem_with({}, {{"jit_base", 0x180}}), HasSubstr("jit_base follows cur_L"));
    EXPECT_THAT(problem_with({}, {{"jit_state", 0x1a0}}), HasSubstr("follows jit_base"));
    EXPECT_THAT(problem_with({}, {{"dispatch", 0xf2e}}), HasSubstr("dispatch table comes last"));
    EXPECT_THAT(problem_with({}, {{"cframe_state", 48}}), HasSubstr("lua_State lies in it"));
}

TEST(ReadLayout, RefusesCodeThatIsCutOffAnywhere) {
    const BuiltVm vm({.is_gc64 = true, .flags = {"FILLER=0"}});
    const elf::SectionBytes text = vm.text();
    const std::span<const std::byte> code(text.bytes);
    ASSERT_TRUE(read_layout({code, text.file_vaddr, std::nullopt}));
    const auto end = static_cast<std::uint64_t>(vm.labels().at("ffi_call_leave"));
    for (std::size_t size = 0; size <= end - text.file_vaddr; ++size) {
        ASSERT_FALSE(read_layout({code.first(size), text.file_vaddr, std::nullopt})) << size;
    }
}

}  // namespace
}  // namespace bobbin::luajit
