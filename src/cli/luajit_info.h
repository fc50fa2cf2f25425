// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "cfi/unwind_row.h"
#include "cli/open_elf.h"
#include "luajit/vm_layout.h"

namespace bobbin::cli {

// What `object-info` says of a LuaJIT in the file; nullopt: there is none.
using LuajitInfo = Result<std::optional<luajit::VmLayout>>;

// `rows` is what the file says about unwinding; empty if it says nothing.
LuajitInfo read_luajit_info(const OpenElf& object, const cfi::UnwindRows& rows);

std::string describe(const LuajitInfo& info);  // one line, or none
nlohmann::ordered_json to_json(const LuajitInfo& info);

}  // namespace bobbin::cli
