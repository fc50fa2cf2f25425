// SPDX-License-Identifier: Apache-2.0
#include "elf/plt_symbols.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

namespace bobbin::elf {
namespace {

constexpr std::array<std::string_view, 3> kStubSections{".plt", ".plt.sec", ".plt.got"};
// libxul has 8 MiB of .rela.dyn, most of it without symbols.
constexpr std::uint64_t kMaxStubBytes = 4ULL << 20;
constexpr std::uint64_t kMaxRelocationBytes = 64ULL << 20;
constexpr std::size_t kMaxStubNameBytes = 4096;
constexpr std::uint64_t kStubBytes = 16;

using Bytes = std::span<const std::byte>;

template <class T>
T read_at(Bytes bytes, std::size_t at) {
    T value{};
    if (at <= bytes.size() && bytes.size() - at >= sizeof(T)) {
        std::memcpy(&value, bytes.data() + at, sizeof(T));
    }
    return value;
}

bool is_slot(const Elf64_Rela& relocation) {
    const auto type = ELF64_R_TYPE(relocation.r_info);
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

// "name@plt"; empty: there is none.
std::string name_of(const Elf64_Rela& relocation, const PltSections& sections) {
    const std::size_t index = ELF64_R_SYM(relocation.r_info);
    if (index == 0 || index >= sections.symbols.size() / sizeof(Elf64_Sym)) return {};
    const auto symbol = read_at<Elf64_Sym>(sections.symbols, index * sizeof(Elf64_Sym));
    if (symbol.st_name >= sections.strings.size()) return {};
    const auto* start = reinterpret_cast<const char*>(sections.strings.data()) + symbol.st_name;
    const std::size_t room = std::min(sections.strings.size() - symbol.st_name, kMaxStubNameBytes);
    const std::size_t length = ::strnlen(start, room);
    return length == 0 || length == room ? std::string() : std::string(start, length) + "@plt";
}

class StubNames {
public:
    explicit StubNames(const PltSections& sections) : sections_(sections) {
        note_slots(sections.plt_relocations);
        note_slots(sections.relocations);
    }

    void add_stubs_of(const SectionBytes& section) {
        for (std::size_t at = 0; at + kShortest <= section.bytes.size(); ++at) {
            const std::string name = name_at(section, at);
            if (name.empty()) continue;
            const std::size_t start = start_of(section.bytes, at);
            end_last_at(section.file_vaddr + start);
            found_.push_back({section.file_vaddr + start, kStubBytes, name,
                              section.file_vaddr + section.bytes.size()});
            at = start + kStubBytes / 2 - 1;  // the shortest stub: jmp and two bytes of padding
        }
    }

    std::vector<Symbol> take() { return std::move(found_); }

private:
    static constexpr std::size_t kShortest = 6;

    void note_slots(Bytes relocations) {
        for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= relocations.size();
             at += sizeof(Elf64_Rela)) {
            const auto relocation = read_at<Elf64_Rela>(relocations, at);
            if (is_slot(relocation)) by_slot_vaddr_[relocation.r_offset] = relocation;
        }
    }

    // Of the stub whose deciding instruction stands at `at`.
    std::string name_at(const SectionBytes& section, std::size_t at) const {
        const Bytes bytes = section.bytes;
        if (bytes[at] == std::byte{0xff} && bytes[at + 1] == std::byte{0x25}) {  // jmp *n(%rip)
            const auto distance = read_at<std::int32_t>(bytes, at + 2);
            const std::uint64_t slot =
                section.file_vaddr + at + 6 + static_cast<std::uint64_t>(std::int64_t{distance});
            const auto found = by_slot_vaddr_.find(slot);
            return found == by_slot_vaddr_.end() ? std::string()
                                                 : name_of(found->second, sections_);
        }
        // push $n behind endbr64, where the jump stands in .plt.sec
        if (bytes[at] != std::byte{0x68} || !is_behind_endbr64(bytes, at)) return {};
        const std::size_t number = read_at<std::uint32_t>(bytes, at + 1);
        if (number >= sections_.plt_relocations.size() / sizeof(Elf64_Rela)) return {};
        return name_of(read_at<Elf64_Rela>(sections_.plt_relocations, number * sizeof(Elf64_Rela)),
                       sections_);
    }

    static bool is_behind_endbr64(Bytes bytes, std::size_t at) {
        constexpr std::uint32_t kEndbr64 = 0xfa1e0ff3;
        return at >= 4 && read_at<std::uint32_t>(bytes, at - 4) == kEndbr64;
    }

    static std::size_t start_of(Bytes bytes, std::size_t at) {
        if (at >= 1 && bytes[at - 1] == std::byte{0xf2}) --at;  // bnd
        return is_behind_endbr64(bytes, at) ? at - 4 : at;
    }

    void end_last_at(std::uint64_t file_vaddr) {
        if (found_.empty() || found_.back().file_vaddr >= file_vaddr) return;
        Symbol& last = found_.back();
        last.size_bytes = std::min(last.size_bytes, file_vaddr - last.file_vaddr);
    }

    const PltSections& sections_;
    std::unordered_map<std::uint64_t, Elf64_Rela> by_slot_vaddr_;
    std::vector<Symbol> found_;
};

bool holds_one_of(const SectionPlace& place, std::span<const std::uint64_t> addresses) {
    const auto first = std::ranges::lower_bound(addresses, place.file_vaddr);
    return first != addresses.end() && *first - place.file_vaddr < place.size_bytes;
}

std::vector<std::byte> bytes_of(const ElfFile& file, std::string_view name, std::uint64_t most) {
    auto section = file.read_section(name, most);
    if (!section || !*section) return {};
    return std::move((*section)->bytes);
}

}  // namespace

std::vector<Symbol> find_plt_symbols(const PltSections& sections) {
    StubNames names(sections);
    for (const SectionBytes& section : sections.stubs) names.add_stubs_of(section);
    return names.take();
}

std::vector<Symbol> read_plt_symbols(const ElfFile& file,
                                     std::span<const std::uint64_t> addresses) {
    PltSections sections;
    for (const std::string_view name : kStubSections) {
        const auto place = file.find_section(name);
        if (!place || !holds_one_of(*place, addresses)) continue;
        auto section = file.read_section(name, kMaxStubBytes);
        if (section && *section) sections.stubs.push_back(std::move(**section));
    }
    if (sections.stubs.empty()) return {};
    sections.plt_relocations = bytes_of(file, ".rela.plt", kMaxRelocationBytes);
    sections.relocations = bytes_of(file, ".rela.dyn", kMaxRelocationBytes);
    sections.symbols = bytes_of(file, ".dynsym", ElfFile::kMaxSectionBytes);
    sections.strings = bytes_of(file, ".dynstr", ElfFile::kMaxSectionBytes);
    return find_plt_symbols(sections);
}

}  // namespace bobbin::elf
