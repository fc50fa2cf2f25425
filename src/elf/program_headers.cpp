// SPDX-License-Identifier: Apache-2.0
#include "elf/program_headers.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/byte_reader.h"

namespace bobbin::elf {
namespace {

// The notes of libxul have 200 bytes, those of a Go binary 100.
constexpr std::uint64_t kMaxNoteBytes = 1U << 20;
// Linkers write 8 to 20 bytes (--build-id=fast to sha1); the kernel takes at most 20.
constexpr std::size_t kMaxBuildIdBytes = 64;

Result<> check_identity(const Elf64_Ehdr& header) {
    const std::string_view magic(reinterpret_cast<const char*>(header.e_ident), SELFMAG);
    if (magic != std::string_view(ELFMAG, SELFMAG)) return fail("not an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64) return fail("not a 64-bit ELF file");
    if (header.e_ident[EI_DATA] != ELFDATA2LSB) return fail("not a little-endian ELF file");
    if (header.e_machine != EM_X86_64) return fail("for machine {}, not x86-64", header.e_machine);
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
        return fail("type {}, neither an executable nor a shared object", header.e_type);
    }
    return {};
}

// The sums are needed everywhere; a file in which they overflow the kernel does not load either.
Result<LoadSegment> to_load_segment(const Elf64_Phdr& header) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    if (header.p_filesz > header.p_memsz || header.p_filesz > kMax - header.p_offset ||
        header.p_memsz > kMax - header.p_vaddr) {
        return fail("the segment at {:#x} has impossible sizes", header.p_vaddr);
    }
    return LoadSegment{.file_offset = header.p_offset,
                       .file_size_bytes = header.p_filesz,
                       .file_vaddr = header.p_vaddr,
                       .memory_size_bytes = header.p_memsz,
                       .executable = (header.p_flags & PF_X) != 0};
}

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

// Fields of a note begin at multiples of 4, or of 8 in a segment aligned so (gABI, "Note Section").
std::span<const std::byte> find_build_id(std::span<const std::byte> notes,
                                         std::uint64_t alignment) {
    ByteReader reader(notes);
    while (reader.remaining() >= sizeof(Elf64_Nhdr)) {
        const auto note = reader.read<Elf64_Nhdr>();
        const std::span<const std::byte> name = reader.bytes(note.n_namesz);
        reader.skip(align_up(reader.position(), alignment) - reader.position());
        const std::span<const std::byte> content = reader.bytes(note.n_descsz);
        if (!reader.ok()) return {};
        const std::string_view owner(reinterpret_cast<const char*>(name.data()), name.size());
        if (note.n_type == NT_GNU_BUILD_ID && owner == std::string_view("GNU\0", 4)) {
            return content.size() <= kMaxBuildIdBytes ? content : std::span<const std::byte>();
        }
        reader.skip(align_up(reader.position(), alignment) - reader.position());
    }
    return {};
}

}  // namespace

Result<Elf64_Ehdr> read_file_header(const FileBytes& file) {
    if (!file.contains(0, sizeof(Elf64_Ehdr))) return fail("too short for an ELF file");
    BOBBIN_TRY(const std::vector<Elf64_Ehdr> headers, file.read_array<Elf64_Ehdr>(0, 1));
    BOBBIN_CHECK(check_identity(headers.front()));
    return headers.front();
}

Result<ProgramHeaders> read_program_headers(const FileBytes& file, const Elf64_Ehdr& header) {
    ProgramHeaders result;
    if (header.e_phnum == 0) return result;
    if (header.e_phnum > ElfFile::kMaxSegments || header.e_phentsize != sizeof(Elf64_Phdr)) {
        return fail("{} program headers of {} bytes", header.e_phnum, header.e_phentsize);
    }
    auto headers = file.read_array<Elf64_Phdr>(header.e_phoff, header.e_phnum);
    if (!headers) return fail(std::move(headers).error()).context("read program headers");
    for (const Elf64_Phdr& segment : *headers) {
        if (segment.p_type == PT_LOAD) {
            BOBBIN_TRY(const LoadSegment load_segment, to_load_segment(segment));
            result.load_segments.push_back(load_segment);
        } else if (segment.p_type == PT_GNU_EH_FRAME && segment.p_filesz > 0) {
            result.eh_frame_header = segment;
        } else if (segment.p_type == PT_NOTE) {
            result.notes.push_back(segment);
        }
    }
    return result;
}

BuildId read_build_id(const FileBytes& file, const std::vector<Elf64_Phdr>& notes) {
    for (const Elf64_Phdr& header : notes) {
        const auto bytes =
            file.read(header.p_offset, std::min<std::uint64_t>(header.p_filesz, kMaxNoteBytes));
        if (!bytes) continue;
        const auto build_id = find_build_id(*bytes, header.p_align == 8 ? 8 : 4);
        if (!build_id.empty()) return BuildId(build_id.begin(), build_id.end());
    }
    return {};
}

// version, encoding of eh_frame_ptr, encodings of the search table, eh_frame_ptr
Result<std::uint64_t> read_eh_frame_vaddr(const FileBytes& file, const Elf64_Phdr& header) {
    constexpr std::uint64_t kFixedBytes = 4;
    constexpr std::uint8_t kVersion = 1;
    // DW_EH_PE_*, LSB 5.0 section 10.5.1. Both relative bases lie in this header.
    constexpr std::uint8_t kPcRelative = 0x10;
    constexpr std::uint8_t kDataRelative = 0x30;
    const std::uint64_t count = std::min<std::uint64_t>(header.p_filesz, kFixedBytes + 8);
    BOBBIN_TRY(const std::vector<std::byte> bytes, file.read(header.p_offset, count));
    ByteReader reader(bytes);
    const std::uint8_t version = reader.u8();
    const std::uint8_t encoding = reader.u8();
    reader.skip(2);

    std::uint64_t value = 0;
    switch (encoding & 0x0f) {
        case 0x00:  // absptr
        case 0x04:  // udata8
        case 0x0c:  // sdata8
            value = reader.u64();
            break;
        case 0x03:  // udata4
            value = reader.u32();
            break;
        case 0x0b:  // sdata4
            value = static_cast<std::uint64_t>(std::int64_t{reader.read<std::int32_t>()});
            break;
        default:
            return fail("eh_frame_ptr has encoding {:#04x}", encoding);
    }
    if (!reader.ok() || version != kVersion) return fail("malformed .eh_frame_hdr");
    switch (encoding & 0xf0) {
        case 0x00:
            return value;
        case kPcRelative:
            return header.p_vaddr + kFixedBytes + value;
        case kDataRelative:
            return header.p_vaddr + value;
        default:
            return fail("eh_frame_ptr has encoding {:#04x}", encoding);
    }
}

}  // namespace bobbin::elf
