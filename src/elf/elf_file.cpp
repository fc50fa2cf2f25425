// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "elf/file_bytes.h"
#include "elf/function_symbols.h"
#include "elf/program_headers.h"
#include "elf/section_table.h"

namespace bobbin::elf {

struct FilePart {
    std::uint64_t file_offset = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t file_vaddr = 0;
};

struct ElfFile::State {
    FileBytes file;
    bool position_independent = false;
    ProgramHeaders program_headers;
    SectionTable sections;
    BuildId build_id;

    static Result<std::unique_ptr<State>> read(const FileBytes& file);
    [[nodiscard]] Result<std::optional<SectionBytes>> read_section(std::string_view name,
                                                                   std::uint64_t max_bytes) const;
    [[nodiscard]] Result<FilePart> find_eh_frame_by_header(const Elf64_Phdr& header) const;
    [[nodiscard]] Result<SectionBytes> read_eh_frame_by_header(const Elf64_Phdr& header) const;
};

Result<std::unique_ptr<ElfFile::State>> ElfFile::State::read(const FileBytes& file) {
    auto state = std::make_unique<State>();
    state->file = file;
    BOBBIN_TRY(const Elf64_Ehdr header, read_file_header(state->file));
    state->position_independent = header.e_type == ET_DYN;
    BOBBIN_TRY(state->program_headers, read_program_headers(state->file, header));
    BOBBIN_TRY(state->sections, SectionTable::read(state->file, header));
    state->build_id = elf::read_build_id(state->file, state->program_headers.notes);
    return state;
}

Result<std::optional<SectionBytes>> ElfFile::State::read_section(std::string_view name,
                                                                 std::uint64_t max_bytes) const {
    const std::optional<std::size_t> index = sections.find(name);
    if (!index || !sections.has_bytes(*index)) return std::nullopt;
    auto bytes = sections.read_bytes(file, *index, max_bytes);
    if (!bytes) return fail(std::move(bytes).error()).context("section {}", name);
    return SectionBytes{std::move(*bytes), sections[*index].sh_addr};
}

// The end of .eh_frame stands nowhere in the program headers; its reader stops at the zero length
// that ends it.
Result<FilePart> ElfFile::State::find_eh_frame_by_header(const Elf64_Phdr& header) const {
    BOBBIN_TRY(const std::uint64_t file_vaddr, read_eh_frame_vaddr(file, header));
    for (const LoadSegment& segment : program_headers.load_segments) {
        const std::uint64_t offset_in_segment = file_vaddr - segment.file_vaddr;
        if (file_vaddr < segment.file_vaddr || offset_in_segment >= segment.file_size_bytes) {
            continue;
        }
        return FilePart{
            .file_offset = segment.file_offset + offset_in_segment,
            .size_bytes = std::min(segment.file_size_bytes - offset_in_segment, kMaxSectionBytes),
            .file_vaddr = file_vaddr};
    }
    return fail("{:#x} lies in no segment", file_vaddr);
}

Result<SectionBytes> ElfFile::State::read_eh_frame_by_header(const Elf64_Phdr& header) const {
    BOBBIN_TRY(const FilePart part, find_eh_frame_by_header(header));
    BOBBIN_TRY(auto bytes, file.read(part.file_offset, part.size_bytes));
    return SectionBytes{std::move(bytes), part.file_vaddr};
}

ElfFile::ElfFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
ElfFile::ElfFile(ElfFile&&) noexcept = default;
ElfFile& ElfFile::operator=(ElfFile&&) noexcept = default;
ElfFile::~ElfFile() = default;

Result<ElfFile> ElfFile::open(int fd) {
    BOBBIN_TRY(const FileBytes file, FileBytes::of_fd(fd));
    BOBBIN_TRY(auto state, State::read(file));
    return ElfFile(std::move(state));
}

const std::vector<LoadSegment>& ElfFile::load_segments() const {
    return state_->program_headers.load_segments;
}
const BuildId& ElfFile::build_id() const { return state_->build_id; }
bool ElfFile::is_position_independent() const { return state_->position_independent; }

Result<std::optional<SectionBytes>> ElfFile::read_section(std::string_view name,
                                                          std::uint64_t max_bytes) const {
    return state_->read_section(name, max_bytes);
}

std::optional<SectionPlace> ElfFile::find_section(std::string_view name) const {
    const std::optional<std::size_t> index = state_->sections.find(name);
    if (!index) return std::nullopt;
    return SectionPlace{state_->sections[*index].sh_addr, state_->sections[*index].sh_size};
}

std::uint64_t ElfFile::section_bytes(std::string_view name) const {
    const std::optional<std::size_t> index = state_->sections.find(name);
    if (!index || !state_->sections.has_bytes(*index)) return 0;
    return std::min(state_->sections.unpacked_size(state_->file, *index).value_or(0),
                    kMaxSectionBytes);
}

std::uint64_t ElfFile::eh_frame_bytes() const {
    const auto& header = state_->program_headers.eh_frame_header;
    if (state_->sections.find(".eh_frame") || !header) return section_bytes(".eh_frame");
    const auto part = state_->find_eh_frame_by_header(*header);
    return part ? part->size_bytes : 0;
}

// eu-strip gives a debug file the program headers of its program, though not what they point at.
Result<std::optional<SectionBytes>> ElfFile::read_eh_frame() const {
    if (state_->sections.find(".eh_frame") || !state_->program_headers.eh_frame_header) {
        return state_->read_section(".eh_frame", kMaxSectionBytes);
    }
    auto bytes = state_->read_eh_frame_by_header(*state_->program_headers.eh_frame_header);
    if (!bytes) return fail(std::move(bytes).error()).context("find .eh_frame by its header");
    return std::move(*bytes);
}

Result<std::optional<SectionBytes>> ElfFile::read_debug_frame() const {
    const bool plain = state_->sections.find(".debug_frame").has_value();
    return state_->read_section(plain ? ".debug_frame" : ".zdebug_frame", kMaxSectionBytes);
}

Result<std::vector<Symbol>> ElfFile::read_function_symbols() const {
    for (const std::string_view name : {".symtab", ".dynsym"}) {
        const std::optional<std::size_t> index = state_->sections.find(name);
        if (!index || !state_->sections.has_bytes(*index)) continue;
        auto functions = read_functions(state_->file, state_->sections, *index);
        if (!functions) return fail(std::move(functions).error()).context("symbols of {}", name);
        return functions;
    }
    return std::vector<Symbol>();
}

std::string to_hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
    return text;
}

std::optional<std::uint64_t> file_offset_of(std::span<const LoadSegment> segments,
                                            std::uint64_t file_vaddr) {
    for (const LoadSegment& segment : segments) {
        const std::uint64_t inside = file_vaddr - segment.file_vaddr;
        if (file_vaddr >= segment.file_vaddr && inside < segment.file_size_bytes) {
            return segment.file_offset + inside;
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> file_vaddr_of(std::span<const LoadSegment> segments,
                                           std::uint64_t file_offset) {
    for (const LoadSegment& segment : segments) {
        const std::uint64_t inside = file_offset - segment.file_offset;
        if (file_offset >= segment.file_offset && inside < segment.file_size_bytes) {
            return segment.file_vaddr + inside;
        }
    }
    return std::nullopt;
}

}  // namespace bobbin::elf
