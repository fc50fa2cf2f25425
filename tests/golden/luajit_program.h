// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/unique_fd.h"
#include "cfi/unwind_row.h"
#include "elf/elf_file.h"
#include "luajit/vm_layout.h"

namespace bobbin::test {

// A program or library with a LuaJIT in it.
class LuajitProgram {
public:
    explicit LuajitProgram(std::string path);

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const cfi::UnwindRows& rows() const { return rows_; }  // of its .eh_frame
    [[nodiscard]] const elf::ElfFile& file() const { return file_; }
    // By code that lies where `rows` lets it.
    [[nodiscard]] luajit::VmLayout layout(const cfi::UnwindRows& rows) const;
    [[nodiscard]] luajit::VmLayout layout() const { return layout(rows_); }

private:
    std::string path_;
    UniqueFd fd_;
    elf::ElfFile file_;
    cfi::UnwindRows rows_;
};

// Addresses by name, as nm shows them.
std::map<std::string, std::uint64_t> list_symbols(const std::string& path);

// Debian's.
std::string luajit_of_debian();     // the interpreter: GC64, stripped
std::string library_of_debian();    // what programs link
std::string openresty_of_debian();  // OpenResty's fork, as nginx uses it
std::string tarantool_of_debian();  // 32-bit references, with debugging information

}  // namespace bobbin::test
