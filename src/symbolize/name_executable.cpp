// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_executable.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elf/elf_file.h"

namespace bobbin::symbolize {
namespace {

constexpr std::ptrdiff_t kNoSegment = -1;

struct Place {
    std::uint64_t address = 0;  // file_vaddr; in no segment: the file offset
    std::ptrdiff_t segment = kNoSegment;
    std::uint32_t location = 0;
};

Place locate(std::uint64_t file_offset, std::span<const elf::LoadSegment> segments) {
    const auto vaddr = elf::file_vaddr_of(segments, file_offset);
    if (!vaddr) return {.address = file_offset};
    const auto holds = [&](const elf::LoadSegment& segment) {
        return *vaddr >= segment.file_vaddr &&
               *vaddr - segment.file_vaddr < segment.memory_size_bytes;
    };
    const auto segment = std::find_if(segments.begin(), segments.end(), holds);
    if (segment == segments.end()) return {.address = file_offset};
    return {.address = *vaddr, .segment = segment - segments.begin()};
}

// Ascending by segment and address, as a symbolizer wants its addresses.
std::vector<Place> locate_all(const ExecutablePlaces& places,
                              std::span<const elf::LoadSegment> segments) {
    std::vector<Place> located;
    located.reserve(places.frames.size());
    std::uint32_t location = places.first_location;
    for (const abi::frame_word frame : places.frames) {
        located.push_back(locate(frame & FRAME_FILE_OFFSET_MASK, segments));
        located.back().location = location++;
    }
    std::stable_sort(located.begin(), located.end(), [](const Place& a, const Place& b) {
        return std::pair(a.segment == kNoSegment, a.address) <
               std::pair(b.segment == kNoSegment, b.address);
    });
    return located;
}

// One list for each of `places`; those in no segment, at the end, get none.
NamesOfEach names_of(std::span<const Place> places, const executable::Executable* executable,
                     const NameExecutable& name) {
    std::vector<std::uint64_t> addresses;
    for (const Place& place : places) {
        if (place.segment != kNoSegment) addresses.push_back(place.address);
    }
    NamesOfEach names;
    if (name && executable != nullptr && executable->file && !addresses.empty()) {
        names = name(*executable, addresses);
    }
    names.resize(places.size());
    return names;
}

Mapping mapping_of(const ExecutablePlaces& places, const executable::Executable* executable,
                   const Place& place) {
    Mapping mapping;
    mapping.file = places.executable_id == EXECUTABLE_ID_VDSO ? "[vdso]" : "[unknown]";
    if (executable != nullptr) {
        mapping.file = executable->path;
        mapping.build_id = elf::to_hex(executable->build_id);
    }
    if (place.segment != kNoSegment) {
        const auto& segment = executable->segments[static_cast<std::size_t>(place.segment)];
        mapping.start_file_vaddr = segment.file_vaddr;
        mapping.end_file_vaddr = segment.file_vaddr + segment.memory_size_bytes;
        mapping.file_offset = segment.file_offset;
    }
    return mapping;
}

}  // namespace

NamesOfEach name_in_this_process(const executable::Executable& executable,
                                 std::span<const std::uint64_t> addresses) {
    const auto fd = executable.file->open_for_reading();
    if (!fd) return {};
    auto named = name_object(fd->get(), executable.path, addresses);
    return named ? std::move(named->names) : NamesOfEach();
}

void name_executable_locations(const ExecutablePlaces& places,
                               const executable::Executable* executable, const NameExecutable& name,
                               ProfileTables& tables) {
    std::span<const elf::LoadSegment> segments;
    if (executable != nullptr) segments = executable->segments;
    const std::vector<Place> located = locate_all(places, segments);
    const NamesOfEach names = names_of(located, executable, name);

    std::map<std::ptrdiff_t, std::uint32_t> mapping_by_segment;
    for (std::size_t i = 0; i < located.size(); ++i) {
        const Place& place = located[i];
        const auto [mapping, is_new] = mapping_by_segment.try_emplace(place.segment, 0);
        if (is_new) mapping->second = tables.add_mapping(mapping_of(places, executable, place));
        tables.set_location(place.location, mapping->second, place.address, names[i]);
    }
}

}  // namespace bobbin::symbolize
