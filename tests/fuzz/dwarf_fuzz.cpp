// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "base/byte_reader.h"
#include "dwarf/resolve.h"

namespace {

using bobbin::dwarf::DebugFile;
using bobbin::dwarf::Query;
using bobbin::dwarf::Section;
using bobbin::dwarf::Sections;

void require(bool holds) {
    if (!holds) std::abort();
}

// The input: sections, each as a number, a 16-bit length and its bytes; the last may be cut off.
Sections read_sections(std::span<const std::byte> input) {
    Sections sections;
    const std::array<Section*, 11> all = {
        &sections.info,        &sections.abbrev,  &sections.line,     &sections.str,
        &sections.line_str,    &sections.addr,    &sections.rnglists, &sections.ranges,
        &sections.str_offsets, &sections.aranges, &sections.cu_index};
    bobbin::ByteReader reader(input);
    while (!reader.at_end()) {
        const std::uint8_t number = reader.u8();
        const std::uint64_t size = reader.u16();
        const auto bytes = reader.bytes(std::min<std::uint64_t>(size, reader.remaining()));
        if (number < all.size()) *all[number] = Section(bytes);
    }
    return sections;
}

// The code of the corpus lies at small addresses: objects are not linked.
std::vector<Query> queries() {
    constexpr std::uint64_t kStart = 0x1000;
    std::vector<Query> result;
    for (std::uint64_t vaddr = kStart; vaddr < kStart + 0x100; vaddr += 3) {
        result.push_back({vaddr, vaddr % 2 == 0 ? kStart : 0});
    }
    return result;
}

void check(const bobbin::dwarf::Resolution& resolution, std::size_t query_count) {
    require(resolution.spans.size() == query_count);
    for (const auto& span : resolution.spans) {
        require(std::uint64_t{span.first_frame} + span.frame_count <= resolution.frames.size());
    }
    for (const auto& frame : resolution.frames) {
        require(frame.function < resolution.strings.size());
        require(frame.file < resolution.strings.size());
    }
}

}  // namespace

// The same sections serve as the file, as what dwz moved out of it, as a package and as a .dwo.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Sections sections = read_sections(std::as_bytes(std::span(data, size)));
    DebugFile file(sections);
    file.supplementary = std::make_shared<DebugFile>(sections);
    bobbin::dwarf::ResolveOptions options;
    options.package = std::make_shared<DebugFile>(sections);
    options.open_split_file = [&](const bobbin::dwarf::Unit&) {
        return std::make_shared<DebugFile>(sections);
    };
    const std::vector<Query> asked = queries();
    check(bobbin::dwarf::resolve(file, asked, options), asked.size());
    options.has_symbols = false;
    check(bobbin::dwarf::resolve(file, asked, options), asked.size());
    return 0;
}
