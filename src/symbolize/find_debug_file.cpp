// SPDX-License-Identifier: Apache-2.0
#include "symbolize/find_debug_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <isa-l/crc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/byte_reader.h"
#include "elf/file_bytes.h"
#include "elf/section_table.h"

namespace bobbin::symbolize {
namespace {

constexpr std::uint64_t kMaxNoteBytes = 4096;

struct DebugLink {
    std::string name;
    std::uint32_t crc = 0;
};

// gdb's manual, "Separate Debug Files": the name, zeros up to a multiple of four, the CRC. A name
// with directories in it would lead anywhere.
std::optional<DebugLink> read_debug_link(const elf::ElfFile& file) {
    const auto section = file.read_section(".gnu_debuglink", kMaxDebugLinkBytes);
    if (!section || !*section) return std::nullopt;
    ByteReader reader((*section)->bytes);
    DebugLink link;
    link.name = reader.c_string();
    reader.skip((4 - reader.position() % 4) % 4);
    link.crc = reader.u32();
    const bool is_plain_name =
        !link.name.empty() && link.name.find('/') == std::string::npos && link.name != "..";
    if (!reader.ok() || !is_plain_name) return std::nullopt;
    return link;
}

bool has_crc(int fd, std::uint32_t expected) {
    constexpr std::uint64_t kPieceBytes = 1U << 20;
    const auto file = elf::FileBytes::of_fd(fd);
    if (!file) return false;
    std::uint32_t crc = 0;
    for (std::uint64_t offset = 0; offset < file->size_bytes();) {
        const std::uint64_t count = std::min(kPieceBytes, file->size_bytes() - offset);
        const auto bytes = file->read(offset, count);
        if (!bytes) return false;
        crc = ::crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes->data()),
                                bytes->size());
        offset += count;
    }
    return crc == expected;
}

// The CRC costs a read of the whole file, so the build id goes first.
bool belongs_to(int fd, const elf::BuildId& build_id, const DebugLink& link) {
    const elf::BuildId found = read_build_id_section(fd);
    if (!found.empty() && !build_id.empty()) return found == build_id;
    return has_crc(fd, link.crc);
}

FoundFile open_by_build_id(const elf::BuildId& build_id, const FileOpener& open,
                           std::span<const std::string> directories) {
    if (build_id.size() < 2) return {};
    for (const std::string& directory : directories) {
        FoundFile found = open(build_id_path(directory, build_id));
        if (found.fd.is_open() && read_build_id_section(found.fd.get()) == build_id) return found;
    }
    return {};
}

// Any type of file but a core dump: a .dwo is an object file.
bool begins_as_object_file(int fd) {
    constexpr std::size_t kBytesUpToType = offsetof(Elf64_Ehdr, e_version);
    Elf64_Ehdr header{};
    const ssize_t count = ::pread(fd, &header, kBytesUpToType, 0);
    return count == static_cast<ssize_t>(kBytesUpToType) &&
           std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           (header.e_type == ET_REL || header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

FoundFile open_by_link(const elf::ElfFile& file, const std::string& path,
                       const DebugFileSources& sources) {
    const auto link = read_debug_link(file);
    if (!link) return {};
    const std::string directory = directory_of(path);
    std::vector<std::string> candidates = {directory + "/" + link->name,
                                           directory + "/.debug/" + link->name};
    for (const std::string& root : sources.directories) {
        candidates.push_back(fmt::format("{}/{}/{}", root, directory, link->name));
    }
    for (const std::string& candidate : candidates) {
        FoundFile found = sources.open(candidate);
        if (found.fd.is_open() && belongs_to(found.fd.get(), file.build_id(), *link)) return found;
    }
    return {};
}

}  // namespace

std::string build_id_path(const std::string& directory, const elf::BuildId& build_id) {
    const std::string hex = elf::to_hex(build_id);
    return fmt::format("{}/.build-id/{}/{}.debug", directory, hex.substr(0, 2), hex.substr(2));
}

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

UniqueFd open_regular_file(const std::string& path) {
    const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status{};
    if (!place.is_open() || ::fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return {};
    }
    const std::string same = fmt::format("/proc/self/fd/{}", place.get());
    return UniqueFd(::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

FoundFile open_object_file(const std::string& path) {
    FoundFile found{.fd = open_regular_file(path), .directory = directory_of(path)};
    if (!found.fd.is_open() || !begins_as_object_file(found.fd.get())) return {};
    std::error_code error;
    const auto place =
        std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", found.fd.get()), error);
    if (!error) found.directory = place.parent_path().string();
    return found;
}

elf::BuildId read_build_id_section(int fd) {
    const auto file = elf::FileBytes::of_fd(fd);
    if (!file) return {};
    const auto header = file->read_array<Elf64_Ehdr>(0, 1);
    if (!header || std::memcmp(header->front().e_ident, ELFMAG, SELFMAG) != 0) return {};
    const auto sections = elf::SectionTable::read(*file, header->front());
    if (!sections) return {};
    const auto index = sections->find(".note.gnu.build-id");
    if (!index || !sections->has_bytes(*index)) return {};
    const auto bytes = sections->read_bytes(*file, *index, kMaxNoteBytes);
    if (!bytes) return {};
    ByteReader note(*bytes);
    const std::uint32_t name_bytes = note.u32();
    const std::uint32_t id_bytes = note.u32();
    note.skip(4 + std::uint64_t{name_bytes});
    const std::span<const std::byte> id = note.bytes(id_bytes);
    return {id.begin(), id.end()};
}

FoundFile find_debug_file(const elf::ElfFile& file, const std::string& path,
                          const DebugFileSources& sources) {
    FoundFile found = open_by_build_id(file.build_id(), sources.open, sources.directories);
    if (!found.fd.is_open()) found = open_by_link(file, path, sources);
    if (!found.fd.is_open() && !sources.downloads.empty()) {
        found = open_by_build_id(file.build_id(), sources.open, std::span(&sources.downloads, 1));
    }
    return found;
}

UniqueFd find_supplementary_file(const elf::SectionBytes& link, const std::string& directory,
                                 const DebugFileSources& sources) {
    ByteReader reader(link.bytes);
    const std::string name(reader.c_string());
    const std::span<const std::byte> id = reader.bytes(reader.remaining());
    if (!reader.ok() || name.empty() || id.empty()) return {};
    const elf::BuildId build_id(id.begin(), id.end());
    UniqueFd fd = sources.open(name.front() == '/' ? name : directory + "/" + name).fd;
    if (fd.is_open() && read_build_id_section(fd.get()) == build_id) return fd;
    return open_by_build_id(build_id, sources.open, sources.directories).fd;
}

}  // namespace bobbin::symbolize
