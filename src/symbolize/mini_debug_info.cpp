// SPDX-License-Identifier: Apache-2.0
#include "symbolize/mini_debug_info.h"

#include <elf.h>
#include <lzma.h>

#include <algorithm>
#include <cstring>

#include "base/byte_reader.h"
#include "elf/function_symbols.h"

namespace bobbin::symbolize {
namespace {

struct EndStream {
    lzma_stream& stream;
    ~EndStream() { ::lzma_end(&stream); }
};

// Grows with what has come out: a stream does not say at its beginning how much that will be.
Result<std::vector<std::byte>> decompress(std::span<const std::byte> compressed) {
    lzma_stream stream = LZMA_STREAM_INIT;
    const EndStream end{stream};
    if (::lzma_stream_decoder(&stream, kMaxXzMemoryBytes, 0) != LZMA_OK) {
        return fail("begin decompressing xz");
    }
    constexpr std::size_t kFirstBytes = 1U << 18;
    std::vector<std::byte> out(kFirstBytes);
    stream.next_in = reinterpret_cast<const std::uint8_t*>(compressed.data());
    stream.avail_in = compressed.size();
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK) {
        if (stream.total_out == out.size()) {
            if (out.size() >= kMaxMiniDebugBytes) return fail("more than {} bytes", out.size());
            out.resize(2 * out.size());
        }
        stream.next_out = reinterpret_cast<std::uint8_t*>(out.data()) + stream.total_out;
        stream.avail_out = out.size() - stream.total_out;
        status = ::lzma_code(&stream, LZMA_FINISH);
    }
    if (status != LZMA_STREAM_END) return fail("decompress xz: error {}", static_cast<int>(status));
    out.resize(stream.total_out);
    return out;
}

// A view of the file's section headers and contents; each access is checked against its size.
class MiniElf {
public:
    static Result<MiniElf> open(std::span<const std::byte> file) {
        ByteReader in(file);
        const auto header = in.read<Elf64_Ehdr>();
        const bool is_ours = in.ok() && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                             header.e_ident[EI_CLASS] == ELFCLASS64 &&
                             header.e_ident[EI_DATA] == ELFDATA2LSB;
        if (!is_ours) return fail("not a 64-bit little-endian ELF file");
        if (header.e_shentsize != sizeof(Elf64_Shdr)) return fail("no section headers");
        MiniElf mini(file);
        ByteReader headers(mini.slice(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)));
        while (!headers.at_end()) mini.sections_.push_back(headers.read<Elf64_Shdr>());
        return mini;
    }

    [[nodiscard]] const Elf64_Shdr* find(std::uint32_t type) const {
        const auto found = std::ranges::find(sections_, type, &Elf64_Shdr::sh_type);
        return found == sections_.end() ? nullptr : &*found;
    }
    [[nodiscard]] const Elf64_Shdr* section(std::uint32_t index) const {
        return index < sections_.size() ? &sections_[index] : nullptr;
    }
    [[nodiscard]] std::span<const Elf64_Shdr> sections() const { return sections_; }
    [[nodiscard]] std::span<const std::byte> bytes_of(const Elf64_Shdr& section) const {
        return section.sh_type == SHT_NOBITS ? std::span<const std::byte>()
                                             : slice(section.sh_offset, section.sh_size);
    }

private:
    explicit MiniElf(std::span<const std::byte> file) : file_(file) {}

    [[nodiscard]] std::span<const std::byte> slice(std::uint64_t offset,
                                                   std::uint64_t count) const {
        if (offset > file_.size() || count > file_.size() - offset) return {};
        return file_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
    }

    std::span<const std::byte> file_;
    std::vector<Elf64_Shdr> sections_;
};

}  // namespace

Result<std::vector<elf::Symbol>> read_mini_debug_symbols(std::span<const std::byte> compressed) {
    BOBBIN_TRY(const std::vector<std::byte> file, decompress(compressed));
    return read_mini_debug_file(file);
}

Result<std::vector<elf::Symbol>> read_mini_debug_file(std::span<const std::byte> file) {
    BOBBIN_TRY(const MiniElf mini, MiniElf::open(file));
    const Elf64_Shdr* const table = mini.find(SHT_SYMTAB);
    const Elf64_Shdr* const names = table == nullptr ? nullptr : mini.section(table->sh_link);
    if (names == nullptr) return fail("no symbols");
    // Code lies in the file that this one was made of: here its sections have only their headers.
    return elf::functions_in({.symbols = mini.bytes_of(*table),
                              .strings = mini.bytes_of(*names),
                              .sections = mini.sections(),
                              .max_names_bytes = kMaxMiniDebugBytes,
                              .max_functions = 1U << 20});
}

}  // namespace bobbin::symbolize
