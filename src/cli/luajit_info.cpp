// SPDX-License-Identifier: Apache-2.0
#include "cli/luajit_info.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/terminal_text.h"
#include "elf/file_bytes.h"
#include "luajit/find_vm.h"
#include "luajit/vm_names.h"

namespace bobbin::cli {
namespace {

const char* states_text(luajit::VmStates states) {
    return states == luajit::VmStates::kUpstream ? "upstream" : "tarantool";
}

nlohmann::ordered_json layout_json(const luajit::VmLayout& layout) {
    nlohmann::ordered_json offsets;
    for (const luajit::OffsetName& entry : luajit::kOffsetNames) {
        offsets[std::string(entry.name)] = layout.offsets.*entry.offset;
    }
    const luajit::VmPlaces& places = layout.places;
    return {{"gc64", layout.is_gc64},
            {"saves_six_registers", layout.saves_six_registers},
            {"vm_states", states_text(layout.states)},
            {"cframe_bytes", layout.cframe_bytes},
            {"begin_file_vaddr", places.begin_file_vaddr},
            {"end_file_vaddr", places.end_file_vaddr},
            {"exit_handler_file_vaddr", places.exit_handler_file_vaddr},
            {"trace_exit_return_file_vaddr", places.trace_exit_return_file_vaddr},
            {"offsets", std::move(offsets)}};
}

}  // namespace

LuajitInfo read_luajit_info(const OpenElf& object, const cfi::UnwindRows& rows) {
    BOBBIN_TRY(const elf::FileBytes bytes, elf::FileBytes::of_fd(object.fd.get()));
    return luajit::find_vm(bytes, object.file.load_segments(), rows);
}

std::string describe(const LuajitInfo& info) {
    if (!info) return fmt::format("LuaJIT      {}\n", printable(info.error().message()));
    if (!*info) return {};
    const luajit::VmLayout& layout = **info;
    return fmt::format(
        "LuaJIT      {}, interpreter at {:#x} + {} bytes, C frames of {} bytes, VM states of {}\n",
        layout.is_gc64 ? "64-bit references" : "32-bit references", layout.places.begin_file_vaddr,
        thousands(layout.places.end_file_vaddr - layout.places.begin_file_vaddr),
        layout.cframe_bytes, states_text(layout.states));
}

nlohmann::ordered_json to_json(const LuajitInfo& info) {
    if (!info) return {{"problem", info.error().message()}};
    if (!*info) return nullptr;
    return layout_json(**info);
}

}  // namespace bobbin::cli
