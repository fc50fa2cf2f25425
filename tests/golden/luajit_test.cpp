// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "golden/luajit_debug_structs.h"
#include "golden/luajit_program.h"
#include "luajit/object_offsets.h"
#include "luajit/vm_layout.h"
#include "luajit/vm_names.h"
#include "support/output_of.h"

namespace bobbin::test {
namespace {

using luajit::VmLayout;
using luajit::VmOffsets;
using luajit::VmPlaces;

// Offsets by name, but for those of the C frame, which is no structure of C.
std::map<std::string, std::int64_t> offsets_in_structs(const VmLayout& layout) {
    std::map<std::string, std::int64_t> offsets;
    for (const luajit::OffsetName& entry : luajit::kOffsetNames) {
        if (entry.name.starts_with("cframe_")) continue;
        offsets.emplace(entry.name, layout.offsets.*entry.offset);
    }
    return offsets;
}

TEST(LuajitOfTarantool, HasTheOffsetsOfItsDebugInformation) {
    const LuajitProgram program(tarantool_of_debian());
    const auto structs = read_debug_structs(program.path());
    const auto at = [&](const char* name, const char* member) {
        return structs.at(name).members.at(member);
    };
    const std::int64_t global = at("GG_State", "g");
    const std::int64_t jit = at("GG_State", "J") - global;
    EXPECT_THAT(
        offsets_in_structs(program.layout()),
        testing::ContainerEq(std::map<std::string, std::int64_t>{
            {"state_status", at("lua_State", "status")},
            {"state_global", at("lua_State", "glref")},
            {"state_base", at("lua_State", "base")},
            {"state_top", at("lua_State", "top")},
            {"state_max_stack", at("lua_State", "maxstack")},
            {"state_stack", at("lua_State", "stack")},
            {"state_cframe", at("lua_State", "cframe")},
            {"dispatch", at("GG_State", "dispatch") - global},
            {"vm_state", at("global_State", "vmstate")},
            {"current_state", at("global_State", "cur_L")},
            {"jit_base", at("global_State", "jit_base")},
            {"jit_state", jit},
            {"jit_traces", jit + at("jit_State", "trace")},
            {"jit_parent_trace", jit + at("jit_State", "parent")},
            {"jit_exit_number", jit + at("jit_State", "exitno")},
            {"trace_machine_code", at("GCtrace", "mcode")},
            {"function_pc", at("GCfuncL", "pc")},
            {"function_c", at("GCfuncC", "f")},
            {"prototype_constants", at("GCproto", "k") - structs.at("GCproto").size_bytes}}));
}

TEST(LuajitOfTarantool, HasTheObjectsOfItsDebugInformation) {
    const auto structs = read_debug_structs(tarantool_of_debian());
    const auto at = [&](const char* name, const char* member) {
        return structs.at(name).members.at(member);
    };
    const luajit::ObjectOffsets& known = luajit::object_offsets(/*is_gc64=*/false);
    for (const char* object : {"lua_State", "GCfuncL", "GCfuncC", "GCproto", "GCtrace", "GCstr"}) {
        EXPECT_EQ(known.gct, at(object, "gct")) << object;
    }
    EXPECT_EQ(known.function_ffid, at("GCfuncL", "ffid"));
    EXPECT_EQ(known.prototype_bytes, structs.at("GCproto").size_bytes);
    EXPECT_EQ(known.prototype_bytecode_count, at("GCproto", "sizebc"));
    EXPECT_EQ(known.prototype_chunk_name, at("GCproto", "chunkname"));
    EXPECT_EQ(known.prototype_first_line, at("GCproto", "firstline"));
    EXPECT_EQ(known.prototype_line_count, at("GCproto", "numline"));
    EXPECT_EQ(known.prototype_line_info, at("GCproto", "lineinfo"));
    EXPECT_EQ(known.prototype_upvalue_info, at("GCproto", "uvinfo"));
    EXPECT_EQ(known.trace_snapshot_count, at("GCtrace", "nsnap"));
    EXPECT_EQ(known.trace_ir, at("GCtrace", "ir"));
    EXPECT_EQ(known.trace_constants, at("GCtrace", "nk"));
    EXPECT_EQ(known.trace_snapshots, at("GCtrace", "snap"));
    EXPECT_EQ(known.trace_snapshot_map, at("GCtrace", "snapmap"));
    EXPECT_EQ(known.trace_start_prototype, at("GCtrace", "startpt"));
    EXPECT_EQ(known.trace_start_pc, at("GCtrace", "startpc"));
    EXPECT_EQ(known.trace_machine_code_bytes, at("GCtrace", "szmcode"));
    EXPECT_EQ(known.trace_machine_code_loop, at("GCtrace", "mcloop"));
    EXPECT_EQ(known.trace_number, at("GCtrace", "traceno"));
    EXPECT_EQ(known.trace_link, at("GCtrace", "link"));
    EXPECT_EQ(known.trace_root, at("GCtrace", "root"));
}

TEST(LuajitOfTarantool, HasThePlacesOfItsSymbols) {
    const LuajitProgram program(tarantool_of_debian());
    const auto symbols = list_symbols(program.path());
    const VmPlaces places = program.layout().places;
    EXPECT_EQ(places.begin_file_vaddr, symbols.at("lj_vm_asm_begin"));
    EXPECT_EQ(places.end_file_vaddr, symbols.at("lj_vm_ffi_call"));
    EXPECT_EQ(places.resume_file_vaddr, symbols.at("lj_vm_resume"));
    EXPECT_EQ(places.pcall_file_vaddr, symbols.at("lj_vm_pcall"));
    EXPECT_EQ(places.call_file_vaddr, symbols.at("lj_vm_call"));
    EXPECT_EQ(places.cpcall_file_vaddr, symbols.at("lj_vm_cpcall"));
    EXPECT_EQ(places.callback_file_vaddr, symbols.at("lj_vm_ffi_callback"));
    EXPECT_EQ(places.leave_file_vaddr, symbols.at("lj_vm_leave_unw"));
    EXPECT_EQ(places.unwind_c_file_vaddr, symbols.at("lj_vm_unwind_c"));
    EXPECT_EQ(places.unwind_c_landed_file_vaddr, symbols.at("lj_vm_unwind_c_eh"));
    EXPECT_EQ(places.unwind_ff_file_vaddr, symbols.at("lj_vm_unwind_ff"));
    EXPECT_EQ(places.unwind_ff_landed_file_vaddr, symbols.at("lj_vm_unwind_ff_eh"));
    EXPECT_EQ(places.gc_step_file_vaddr, symbols.at("lj_fff_gcstep"));
    EXPECT_EQ(places.gc_step_end_file_vaddr, symbols.at("lj_vm_record"));
    EXPECT_EQ(places.exit_handler_file_vaddr, symbols.at("lj_vm_exit_handler"));
    EXPECT_EQ(places.exit_interp_file_vaddr, symbols.at("lj_vm_exit_interp"));
    EXPECT_EQ(places.trace_exit_file_vaddr, symbols.at("lj_trace_exit"));
    EXPECT_EQ(places.helpers_begin_file_vaddr, symbols.at("lj_vm_floor"));
    EXPECT_EQ(places.helpers_end_file_vaddr, symbols.at("lj_vm_ffi_callback"));
}

// What builds of the same sources with debugging information have.
struct KnownBuild {
    std::string path;
    std::int32_t dispatch, vm_state, current_state, jit_base, jit_traces, jit_parent_trace;
};

void expect_offsets(const KnownBuild& known) {
    SCOPED_TRACE(known.path);
    const VmLayout layout = LuajitProgram(known.path).layout();
    const VmOffsets& offsets = layout.offsets;
    EXPECT_TRUE(layout.is_gc64);
    EXPECT_FALSE(layout.saves_six_registers);
    EXPECT_EQ(layout.states, luajit::VmStates::kUpstream);
    EXPECT_EQ(layout.cframe_bytes, 80);
    EXPECT_EQ(offsets.dispatch, known.dispatch);
    EXPECT_EQ(offsets.vm_state, known.vm_state);
    EXPECT_EQ(offsets.current_state, known.current_state);
    EXPECT_EQ(offsets.jit_base, known.jit_base);
    EXPECT_EQ(offsets.jit_traces, known.jit_traces);
    EXPECT_EQ(offsets.jit_parent_trace, known.jit_parent_trace);
    EXPECT_EQ(offsets.state_base, 0x20);
    EXPECT_EQ(offsets.state_cframe, 0x50);
    EXPECT_EQ(offsets.function_c, 0x28);
    EXPECT_EQ(offsets.trace_machine_code, 88);
}

TEST(LuajitOfDebian, HasTheOffsetsOfBuildsWithDebugInformation) {
    expect_offsets({luajit_of_debian(), 0xf80, 0xb8, 0x170, 0x178, 0x458, 0xea0});
    expect_offsets({library_of_debian(), 0xf80, 0xb8, 0x170, 0x178, 0x458, 0xea0});
    expect_offsets({openresty_of_debian(), 0xfa8, 0xb8, 0x170, 0x178, 0x460, 0xea8});
}

// Once by the code's unwind information and once by the code alone.
TEST(LuajitOfDebian, LiesWhereItsUnwindInformationSays) {
    for (const std::string& path :
         {luajit_of_debian(), library_of_debian(), openresty_of_debian(), tarantool_of_debian()}) {
        const LuajitProgram program(path);
        const VmPlaces with_rows = program.layout().places;
        const VmPlaces by_code = program.layout({}).places;
        EXPECT_EQ(with_rows.begin_file_vaddr, by_code.begin_file_vaddr) << path;
        EXPECT_EQ(with_rows.end_file_vaddr, by_code.end_file_vaddr) << path;
        const std::string frames = output_of("readelf --debug-dump=frames -W '" + path + "'");
        EXPECT_NE(frames.find(fmt::format("pc={:016x}..{:016x}", with_rows.begin_file_vaddr,
                                          with_rows.end_file_vaddr)),
                  std::string::npos)
            << path;
    }
}

}  // namespace
}  // namespace bobbin::test
