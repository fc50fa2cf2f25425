// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <isa-l/crc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/byte_reader.h"
#include "base/write_all.h"
#include "elf/file_bytes.h"
#include "executable/file_status.h"
#include "symbolize/object_messages.h"

namespace bobbin::symbolize {
namespace {

// Changes with the layout below.
constexpr std::string_view kMagic = "bobnam01";
constexpr std::string_view kSuffix = ".names";
constexpr std::size_t kMaxBuildIdBytes = 64;

std::string name_of_entry(const CachedFile& file) {
    return fmt::format("{}-{:x}-{:x}{}", elf::to_hex(file.build_id), file.device, file.inode,
                       kSuffix);
}

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
    return ::crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

// "bobnam01", checksum of all that follows, which names this belongs to, then addresses and names.
std::vector<std::byte> head_of(const CachedFile& file, const std::string& program) {
    std::vector<std::byte> head = encode(program);
    const auto add = [&head](const auto& value) {
        const std::size_t at = head.size();
        head.resize(at + sizeof(value));
        std::memcpy(head.data() + at, &value, sizeof(value));
    };
    add(file.size_bytes);
    add(file.modified_ns);
    add(file.changed_ns);
    return head;
}

void append(std::vector<std::byte>& to, std::span<const std::byte> part) {
    const std::size_t at = to.size();
    to.resize(at + part.size());
    if (!part.empty()) std::memcpy(to.data() + at, part.data(), part.size());
}

std::vector<std::byte> contents_of(const std::vector<std::byte>& head, const KnownNames& known) {
    std::vector<std::byte> body = head;
    const auto count = static_cast<std::uint32_t>(known.addresses.size());
    append(body, std::as_bytes(std::span(&count, 1)));
    append(body, std::as_bytes(std::span(known.addresses)));
    append(body, encode(ObjectNames{.names = known.names, .quality = {}}));
    const std::uint32_t checksum = checksum_of(body);
    std::vector<std::byte> contents;
    append(contents, std::as_bytes(std::span(kMagic)));
    append(contents, std::as_bytes(std::span(&checksum, 1)));
    append(contents, body);
    return contents;
}

std::optional<KnownNames> parse(std::span<const std::byte> contents,
                                const std::vector<std::byte>& expected_head) {
    ByteReader reader(contents);
    const auto magic = reader.bytes(kMagic.size());
    const std::uint32_t checksum = reader.u32();
    if (!reader.ok() || !std::ranges::equal(magic, std::as_bytes(std::span(kMagic))) ||
        checksum_of(contents.subspan(reader.position())) != checksum) {
        return std::nullopt;
    }
    if (!std::ranges::equal(reader.bytes(expected_head.size()), expected_head)) return std::nullopt;
    const std::uint32_t count = reader.u32();
    if (count > reader.remaining() / sizeof(std::uint64_t)) return std::nullopt;
    KnownNames known;
    known.addresses.resize(count);
    for (std::uint64_t& address : known.addresses) address = reader.u64();
    auto names = decode_names(reader.bytes(reader.remaining()), count);
    if (!names || !std::ranges::is_sorted(known.addresses)) return std::nullopt;
    known.names = std::move(names->names);
    return known;
}

std::string build_id_of_this_program() {
    const UniqueFd fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const auto file = elf::ElfFile::open(fd.get());
    return file ? elf::to_hex(file->build_id()) : std::string();
}

struct CacheEntry {
    std::string name;
    std::uint64_t size_bytes = 0;
    std::int64_t used_s = 0;
};

// Of ours; also what a process that died left half written.
std::vector<CacheEntry> list_entries(int directory_fd) {
    std::vector<CacheEntry> entries;
    UniqueFd copy(::openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!copy.is_open()) return entries;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(copy.get()), &::closedir);
    if (!directory) return entries;
    (void)copy.release();  // closedir's now
    while (const dirent* const entry = ::readdir(directory.get())) {
        struct stat status{};
        if (::fstatat(directory_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode) ||
            std::string_view(entry->d_name).find(kSuffix) == std::string_view::npos) {
            continue;
        }
        entries.push_back(
            {entry->d_name, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec});
    }
    return entries;
}

std::string directory_from(const char* variable, std::string_view below) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value != '/') return {};
    return std::string(value) + std::string(below);
}

void append_names(KnownNames& to, KnownNames& from, std::size_t i) {
    to.addresses.push_back(from.addresses[i]);
    to.names.push_back(std::move(from.names[i]));
}

}  // namespace

const std::vector<NamedFrame>* KnownNames::find(std::uint64_t address) const {
    const auto found = std::ranges::lower_bound(addresses, address);
    if (found == addresses.end() || *found != address) return nullptr;
    return &names[static_cast<std::size_t>(found - addresses.begin())];
}

KnownNames merge(KnownNames a, KnownNames b) {
    KnownNames both;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.addresses.size() || j < b.addresses.size()) {
        const bool takes_a =
            j == b.addresses.size() || (i < a.addresses.size() && a.addresses[i] <= b.addresses[j]);
        append_names(both, takes_a ? a : b, takes_a ? i++ : j++);
    }
    return both;
}

std::optional<CachedFile> identify(int fd, const elf::BuildId& build_id) {
    if (build_id.empty() || build_id.size() > kMaxBuildIdBytes) return std::nullopt;
    const auto status = executable::status_of(fd);
    if (!status) return std::nullopt;
    return CachedFile{.build_id = build_id,
                      .device = status->device,
                      .inode = status->inode,
                      .size_bytes = status->size_bytes,
                      .modified_ns = status->mtime_ns,
                      .changed_ns = status->ctime_ns};
}

std::string NameCache::default_directory() {
    if (std::string given = directory_from("CACHE_DIRECTORY", {}); !given.empty()) return given;
    if (::geteuid() == 0) return "/var/cache/bobbin";
    if (std::string own = directory_from("XDG_CACHE_HOME", "/bobbin"); !own.empty()) return own;
    return directory_from("HOME", "/.cache/bobbin");
}

std::optional<NameCache> NameCache::open(const std::string& directory, std::uint64_t max_bytes) {
    std::string program = build_id_of_this_program();
    if (directory.empty() || program.empty()) return std::nullopt;
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(directory).parent_path(), error);
    ::mkdir(directory.c_str(), 0700);
    UniqueFd fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!fd.is_open() || ::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid() ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return std::nullopt;
    }
    return NameCache(std::move(fd), std::move(program), max_bytes);
}

KnownNames NameCache::find(const CachedFile& file) const {
    const std::string name = name_of_entry(file);
    const UniqueFd fd(
        ::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd.is_open()) return {};
    const auto bytes = elf::FileBytes::of_fd(fd.get());
    if (!bytes || bytes->size_bytes() > 2 * kMaxMessageBytes) return {};
    const auto contents = bytes->read(0, bytes->size_bytes());
    if (!contents) return {};
    auto known = parse(*contents, head_of(file, program_));
    if (!known) return {};
    ::utimensat(directory_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // used now
    return std::move(*known);
}

void NameCache::store(const CachedFile& file, const KnownNames& known) const {
    const std::vector<std::byte> contents = contents_of(head_of(file, program_), known);
    if (contents.size() > 2 * kMaxMessageBytes || contents.size() > max_bytes_) return;
    const std::string name = name_of_entry(file);
    const std::string temporary = fmt::format(".{}.{}", name, ::getpid());
    ::unlinkat(directory_.get(), temporary.c_str(), 0);  // of a process that died at it
    const UniqueFd fd(::openat(directory_.get(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd.is_open()) return;
    const std::string_view text(reinterpret_cast<const char*>(contents.data()), contents.size());
    const bool is_in_place =
        write_all(fd.get(), text, name) &&
        ::renameat(directory_.get(), temporary.c_str(), directory_.get(), name.c_str()) == 0;
    if (!is_in_place) ::unlinkat(directory_.get(), temporary.c_str(), 0);
}

void NameCache::shrink() const {
    std::vector<CacheEntry> entries = list_entries(directory_.get());
    std::ranges::sort(entries, {}, &CacheEntry::used_s);
    std::uint64_t total_bytes = 0;
    for (const CacheEntry& entry : entries) total_bytes += entry.size_bytes;
    for (const CacheEntry& entry : entries) {
        if (total_bytes <= max_bytes_) return;
        if (::unlinkat(directory_.get(), entry.name.c_str(), 0) == 0) {
            total_bytes -= entry.size_bytes;
        }
    }
}

}  // namespace bobbin::symbolize
