// SPDX-License-Identifier: Apache-2.0
#include "executable/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace bobbin::executable {
namespace {

// O_NONBLOCK: a FIFO must not hold us; O_NOCTTY: a terminal must not become ours.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

std::string target_of_link(const std::string& link) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
    if (length < 0) return {};
    std::string path(target.data(), static_cast<std::size_t>(length));
    constexpr std::string_view kDeleted = " (deleted)";
    if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
    return path;
}

Result<OpenedFile> open_link(const abi::announcement& announcement, const std::string& link) {
    UniqueFd fd(::open(link.c_str(), kOpenFlags));
    if (!fd.is_open()) return fail_with(errno, "open {}", link);
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) return fail_with(errno, "fstat {}", link);
    if (!S_ISREG(status.st_mode)) return fail("{} is not a regular file", link);
    // Not st_dev and st_ino: on overlayfs and btrfs they differ from the inode's own.
    const std::int64_t mtime_ns =
        status.st_mtim.tv_sec * kNanosecondsPerSecond + status.st_mtim.tv_nsec;
    const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
    if (size_bytes != announcement.key.size_bytes || mtime_ns != announcement.key.mtime_ns) {
        return fail("{} is not the file that was announced any more", link);
    }
    return OpenedFile{.key = announcement.key,
                      .executable_id = announcement.executable_id,
                      .path = target_of_link(link),
                      .fd = std::move(fd),
                      .size_bytes = size_bytes};
}

}  // namespace

std::optional<abi::announcement> parse_announcement(std::span<const std::byte> record) {
    abi::announcement announcement{};
    if (record.size() < sizeof(announcement)) return std::nullopt;
    std::memcpy(&announcement, record.data(), sizeof(announcement));
    return announcement;
}

Result<OpenedFile> open_announced(const abi::announcement& announcement, const std::string& proc) {
    const std::string process = fmt::format("{}/{}", proc, announcement.pid);
    auto opened = open_link(
        announcement, fmt::format("{}/map_files/{:x}-{:x}", process, announcement.vm_start_vaddr,
                                  announcement.vm_end_vaddr));
    if (opened) return opened;
    if (auto exe = open_link(announcement, process + "/exe")) return exe;
    return opened;
}

}  // namespace bobbin::executable
