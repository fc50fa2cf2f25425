// SPDX-License-Identifier: Apache-2.0
#include "symbolize/profile_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "symbolize/demangle.h"

namespace bobbin::symbolize {
namespace {

constexpr std::uint64_t kPageMask = 4095;

std::string basename_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

void grow(Mapping& mapping, std::uint64_t address) {
    const std::uint64_t page = address & ~kPageMask;
    const bool is_empty = mapping.end_file_vaddr == 0;
    if (is_empty || address < mapping.start_file_vaddr) mapping.start_file_vaddr = page;
    // The last page of the address space has no end that fits: the limit stays one short of it.
    const std::uint64_t page_end = page + std::min(kPageMask + 1, UINT64_MAX - page);
    mapping.end_file_vaddr = std::max(mapping.end_file_vaddr, page_end);
}

}  // namespace

std::uint32_t ProfileTables::add_mapping(Mapping mapping) {
    mappings_.push_back(std::move(mapping));
    return static_cast<std::uint32_t>(mappings_.size() - 1);
}

void ProfileTables::set_location(std::uint32_t location, std::uint32_t mapping_index,
                                 std::uint64_t address, std::span<const NamedFrame> frames) {
    Mapping& mapping = mappings_[mapping_index];
    if (address < mapping.start_file_vaddr || address >= mapping.end_file_vaddr) {
        grow(mapping, address);
    }
    note_what_is_known(mapping, frames);

    Location& out = locations_[location];
    out.mapping = mapping_index;
    out.address = address;
    out.is_named = !frames.empty();
    for (const NamedFrame& frame : frames) {
        out.lines.push_back({index_of_function(frame.system_name, frame.file, true), frame.line});
    }
    if (frames.empty()) {
        const std::string name = fmt::format("{}+{:#x}", basename_of(mapping.file), address);
        out.lines.push_back({index_of_function(name, "", false), 0});
    }
}

void ProfileTables::note_what_is_known(Mapping& mapping, std::span<const NamedFrame> frames) {
    mapping.has_functions |= !frames.empty();
    mapping.has_inline_frames |= frames.size() > 1;
    for (const NamedFrame& frame : frames) {
        mapping.has_filenames |= !frame.file.empty();
        mapping.has_line_numbers |= frame.line != 0;
    }
}

std::uint32_t ProfileTables::index_of_function(const std::string& system_name,
                                               const std::string& file, bool is_symbol) {
    const std::string key = system_name + '\0' + file;
    const auto index = static_cast<std::uint32_t>(functions_.size());
    const auto [found, is_new] = function_by_key_.try_emplace(key, index);
    if (is_new) {
        functions_.push_back({is_symbol ? demangle(system_name) : system_name, system_name, file});
    }
    return found->second;
}

void ProfileTables::move_to(NamedProfile& profile) {
    profile.mappings = std::move(mappings_);
    profile.functions = std::move(functions_);
    profile.locations = std::move(locations_);
}

}  // namespace bobbin::symbolize
