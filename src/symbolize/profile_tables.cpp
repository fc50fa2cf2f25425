// SPDX-License-Identifier: Apache-2.0
#include "symbolize/profile_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

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
    mapping.has_filenames = true;  // until a location has none
    mapping.has_line_numbers = true;
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
        out.lines.push_back({index_of_function(frame.system_name, frame.file), frame.line});
    }
    if (frames.empty()) {
        const std::string name = fmt::format("{}+{:#x}", basename_of(mapping.file), address);
        out.lines.push_back({index_of_function(name, ""), 0});
    }
}

// As pprof reads them (profile.go: HasFileLines, "all locations"). But one function is enough for
// has_functions: of a mapping without any mark pprof replaces all names by what it finds itself
// (symbolizer.go, doLocalSymbolize).
void ProfileTables::note_what_is_known(Mapping& mapping, std::span<const NamedFrame> frames) {
    const auto has_file = [](const NamedFrame& frame) { return !frame.file.empty(); };
    const auto has_line = [](const NamedFrame& frame) { return frame.line != 0; };
    mapping.has_functions |= !frames.empty();
    mapping.has_filenames &= !frames.empty() && std::ranges::all_of(frames, has_file);
    mapping.has_line_numbers &= !frames.empty() && std::ranges::all_of(frames, has_line);
    mapping.has_inline_frames |= frames.size() > 1;
}

std::uint32_t ProfileTables::index_of_function(const std::string& system_name,
                                               const std::string& file) {
    const std::string key = system_name + '\0' + file;
    const auto index = static_cast<std::uint32_t>(functions_.size());
    const auto [found, is_new] = function_by_key_.try_emplace(key, index);
    if (is_new) functions_.push_back({system_name, system_name, file});
    return found->second;
}

void ProfileTables::demangle_new(const DemangleNames& demangle) {
    std::vector<std::size_t> mangled;
    std::vector<std::string> system_names;
    for (std::size_t i = std::exchange(demangled_count_, functions_.size()); i < functions_.size();
         ++i) {
        if (!may_be_mangled(functions_[i].system_name)) continue;
        mangled.push_back(i);
        system_names.push_back(functions_[i].system_name);
    }
    if (!demangle || mangled.empty()) return;
    std::vector<std::string> names = demangle(system_names);
    if (names.size() != mangled.size()) return;
    for (std::size_t i = 0; i < mangled.size(); ++i) {
        functions_[mangled[i]].name = std::move(names[i]);
    }
}

void ProfileTables::move_to(NamedProfile& profile) {
    profile.mappings = std::move(mappings_);
    profile.functions = std::move(functions_);
    profile.locations = std::move(locations_);
}

}  // namespace bobbin::symbolize
