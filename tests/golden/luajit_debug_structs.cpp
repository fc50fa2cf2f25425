// SPDX-License-Identifier: Apache-2.0
#include "golden/luajit_debug_structs.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/unique_fd.h"

namespace bobbin::test {
namespace {

std::optional<std::int64_t> number_of(Dwarf_Die& die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (::dwarf_attr(&die, name, &attribute) == nullptr) return std::nullopt;
    if (::dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

DebugStruct read_struct(Dwarf_Die& die) {
    DebugStruct result;
    result.size_bytes = number_of(die, DW_AT_byte_size).value_or(0);
    Dwarf_Die member;
    if (::dwarf_child(&die, &member) != 0) return result;
    do {
        const char* const name = ::dwarf_diename(&member);
        const auto offset = number_of(member, DW_AT_data_member_location);
        if (::dwarf_tag(&member) == DW_TAG_member && name != nullptr && offset) {
            result.members.emplace(name, *offset);
        }
    } while (::dwarf_siblingof(&member, &member) == 0);
    return result;
}

void add_structs(Dwarf_Die& unit, std::map<std::string, DebugStruct>& structs) {
    Dwarf_Die die;
    if (::dwarf_child(&unit, &die) != 0) return;
    do {
        const char* const name = ::dwarf_diename(&die);
        const bool is_whole = ::dwarf_tag(&die) == DW_TAG_structure_type && name != nullptr &&
                              ::dwarf_hasattr(&die, DW_AT_declaration) == 0;
        if (is_whole && !structs.contains(name)) structs.emplace(name, read_struct(die));
    } while (::dwarf_siblingof(&die, &die) == 0);
}

}  // namespace

std::map<std::string, DebugStruct> read_debug_structs(const std::string& path) {
    std::map<std::string, DebugStruct> structs;
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    Dwarf* const dwarf = ::dwarf_begin(fd.get(), DWARF_C_READ);
    EXPECT_NE(dwarf, nullptr) << path;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    while (dwarf != nullptr &&
           ::dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
        add_structs(die, structs);
    }
    ::dwarf_end(dwarf);
    return structs;
}

}  // namespace bobbin::test
