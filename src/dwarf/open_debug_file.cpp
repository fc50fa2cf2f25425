// SPDX-License-Identifier: Apache-2.0
#include "dwarf/open_debug_file.h"

#include <elf.h>
#include <endian.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "dwarf/file_section.h"
#include "elf/file_bytes.h"
#include "elf/section_table.h"

namespace bobbin::dwarf {
namespace {

// elf.h of glibc 2.36 does not have it yet.
constexpr std::uint32_t kCompressZstd = 2;
// Deflate makes at most 258 bytes out of two bits.
constexpr std::uint64_t kMaxDeflateRatio = 1032;
// Of one section, whether it is kept or passed over, which takes 1 s a GiB.
constexpr std::uint64_t kMaxUnpackedBytes = 2ULL << 30;
using Method = PackedStream::Method;

class SectionOpener {
public:
    SectionOpener(const elf::FileBytes& file, const elf::SectionTable& table,
                  std::shared_ptr<MemoryLimit> limit)
        : file_(file), table_(table), limit_(std::move(limit)) {}

    [[nodiscard]] Section open(std::string_view name) const {
        Source source = find(name);
        return source != nullptr ? Section(std::move(source)) : Section();
    }

    // From front to back through the one, anywhere through the other.
    struct BothWays {
        Section forward;
        Section anywhere;
    };
    [[nodiscard]] BothWays open_both_ways(std::string_view name) const {
        Source source = find(name);
        if (source == nullptr) return {};
        Section anywhere(source);
        if (auto packed = std::dynamic_pointer_cast<CompressedSection>(source)) {
            source = std::make_shared<ForwardSection>(std::move(packed));
        }
        return {Section(std::move(source)), std::move(anywhere)};
    }

private:
    using Source = std::shared_ptr<SectionSource>;

    // ".debug_NAME", ".debug_NAME.dwo" or ".zdebug_NAME".
    [[nodiscard]] Source find(std::string_view name) const {
        const std::string text(name);
        for (const std::string& candidate : {".debug_" + text, ".debug_" + text + ".dwo"}) {
            const auto index = table_.find(candidate);
            if (index && table_.has_bytes(*index)) return find_plain(table_[*index]);
        }
        const auto index = table_.find(".zdebug_" + text);
        return index ? find_gnu_compressed(table_[*index]) : nullptr;
    }

    [[nodiscard]] Source find_plain(const Elf64_Shdr& header) const {
        if (!file_.contains(header.sh_offset, header.sh_size)) return nullptr;
        if ((header.sh_flags & SHF_COMPRESSED) == 0) {
            return std::make_shared<FileSection>(file_.fd(), header.sh_offset, header.sh_size);
        }
        const auto chdr = file_.read_array<Elf64_Chdr>(header.sh_offset, 1);
        if (!chdr || header.sh_size < sizeof(Elf64_Chdr)) return nullptr;
        const std::uint32_t type = chdr->front().ch_type;
        if (type != ELFCOMPRESS_ZLIB && type != kCompressZstd) return nullptr;
        return find_packed(header, sizeof(Elf64_Chdr), chdr->front().ch_size,
                           type == kCompressZstd ? Method::kZstd : Method::kZlib);
    }

    // binutils before 2.26: "ZLIB", the size as a big-endian word, the stream.
    [[nodiscard]] Source find_gnu_compressed(const Elf64_Shdr& header) const {
        constexpr std::string_view kMagic = "ZLIB";
        constexpr std::uint64_t kHeaderBytes = 12;
        if (!file_.contains(header.sh_offset, header.sh_size) || header.sh_size < kHeaderBytes) {
            return nullptr;
        }
        const auto start = file_.read(header.sh_offset, kHeaderBytes);
        if (!start || std::memcmp(start->data(), kMagic.data(), kMagic.size()) != 0) {
            return nullptr;
        }
        std::uint64_t size = 0;
        std::memcpy(&size, start->data() + kMagic.size(), sizeof(size));
        return find_packed(header, kHeaderBytes, be64toh(size), Method::kZlib);
    }

    [[nodiscard]] Source find_packed(const Elf64_Shdr& header, std::uint64_t header_bytes,
                                     std::uint64_t unpacked_bytes, Method method) const {
        const std::uint64_t packed_bytes = header.sh_size - header_bytes;
        const bool is_possible =
            unpacked_bytes <= kMaxUnpackedBytes &&
            (method != Method::kZlib || unpacked_bytes / kMaxDeflateRatio <= packed_bytes);
        if (!is_possible) return nullptr;
        return std::make_shared<CompressedSection>(
            PackedStream{.fd = file_.fd(),
                         .file_offset = header.sh_offset + header_bytes,
                         .size_bytes = packed_bytes,
                         .unpacked_bytes = unpacked_bytes,
                         .method = method},
            limit_);
    }

    const elf::FileBytes& file_;
    const elf::SectionTable& table_;
    std::shared_ptr<MemoryLimit> limit_;
};

// Any type of file: a .dwo is an object file.
Result<Elf64_Ehdr> read_header(const elf::FileBytes& file) {
    BOBBIN_TRY(const auto headers, file.read_array<Elf64_Ehdr>(0, 1));
    const Elf64_Ehdr& header = headers.front();
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return fail("not an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return fail("not a 64-bit little-endian ELF file");
    }
    return header;
}

}  // namespace

Result<std::shared_ptr<DebugFile>> open_debug_file(int fd, std::shared_ptr<MemoryLimit> limit) {
    BOBBIN_TRY(const elf::FileBytes file, elf::FileBytes::of_fd(fd));
    BOBBIN_TRY(const Elf64_Ehdr header, read_header(file));
    BOBBIN_TRY(const elf::SectionTable table, elf::SectionTable::read(file, header));
    const SectionOpener opener(file, table, std::move(limit));
    Sections sections;
    auto info = opener.open_both_ways("info");
    sections.info = std::move(info.forward);
    sections.far_info = std::move(info.anywhere);
    sections.abbrev = opener.open("abbrev");
    sections.line = opener.open_both_ways("line").forward;
    auto str = opener.open_both_ways("str");
    sections.str = std::move(str.anywhere);
    sections.late_str = std::move(str.forward);
    sections.line_str = opener.open("line_str");
    sections.str_offsets = opener.open("str_offsets");
    sections.addr = opener.open("addr");
    sections.ranges = opener.open("ranges");
    sections.rnglists = opener.open("rnglists");
    sections.aranges = opener.open("aranges");
    sections.cu_index = opener.open("cu_index");
    return std::make_shared<DebugFile>(std::move(sections));
}

}  // namespace bobbin::dwarf
