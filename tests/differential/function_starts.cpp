// SPDX-License-Identifier: Apache-2.0
#include "differential/function_starts.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "base/unique_fd.h"
#include "elf/elf_file.h"

namespace bobbin::test {
namespace {

std::int32_t number_at(const std::vector<std::byte>& bytes, std::size_t at) {
    std::int32_t number = 0;
    std::memcpy(&number, bytes.data() + at, sizeof(number));
    return number;
}

// version 1, then encodings: pointer sdata4 pc-relative, count udata4, table sdata4 relative to the
// section. Every linker writes these.
std::vector<std::uint64_t> search_table_of(const elf::ElfFile& file) {
    constexpr std::uint32_t kUsual = 0x3b031b01;
    constexpr std::size_t kHeaderBytes = 12;
    constexpr std::size_t kEntryBytes = 8;
    std::vector<std::uint64_t> vaddrs;
    const auto section = file.read_section(".eh_frame_hdr");
    if (!section || !*section || (*section)->bytes.size() < kHeaderBytes) return vaddrs;
    const auto& bytes = (*section)->bytes;
    if (static_cast<std::uint32_t>(number_at(bytes, 0)) != kUsual) return vaddrs;
    for (std::size_t at = kHeaderBytes; at + kEntryBytes <= bytes.size(); at += kEntryBytes) {
        const std::int64_t from_section = number_at(bytes, at);
        vaddrs.push_back((*section)->file_vaddr + static_cast<std::uint64_t>(from_section));
    }
    return vaddrs;
}

std::vector<std::uint64_t> thinned(std::vector<std::uint64_t> all, std::size_t most) {
    std::ranges::sort(all);
    const auto [first, last] = std::ranges::unique(all);
    all.erase(first, last);
    const std::size_t stride = all.size() / most + 1;
    std::vector<std::uint64_t> some;
    for (std::size_t i = 0; i < all.size(); i += stride) some.push_back(all[i]);
    return some;
}

std::vector<std::uint64_t> read_offsets(const std::string& path, std::size_t most) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto file = elf::ElfFile::open(fd.get());
    if (!file) return {};
    std::vector<std::uint64_t> vaddrs = search_table_of(*file);
    if (const auto symbols = file->read_function_symbols()) {
        for (const elf::Symbol& symbol : *symbols) vaddrs.push_back(symbol.file_vaddr);
    }
    std::vector<std::uint64_t> offsets;
    for (const std::uint64_t vaddr : vaddrs) {
        const auto offset = elf::file_offset_of(file->load_segments(), vaddr);
        if (offset) offsets.push_back(*offset);
    }
    return thinned(std::move(offsets), most);
}

}  // namespace

std::vector<std::uint64_t> FunctionStarts::new_in(const std::vector<TracedMapping>& mappings) {
    std::vector<std::uint64_t> vaddrs;
    for (const TracedMapping& mapping : mappings) {
        if (!mapping.executable || mapping.inode == 0) continue;
        const auto [entry, is_new] = offsets_by_file_.try_emplace(mapping.file());
        if (!is_new) continue;
        entry->second = read_offsets(mapping.path, most_of_one_file_);
        for (const std::uint64_t offset : entry->second) {
            const std::uint64_t vaddr = mapping.start_vaddr + offset - mapping.file_offset;
            if (offset >= mapping.file_offset && mapping.holds(vaddr)) vaddrs.push_back(vaddr);
        }
    }
    return vaddrs;
}

}  // namespace bobbin::test
