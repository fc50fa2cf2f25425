// SPDX-License-Identifier: Apache-2.0
#include "executable/file_status.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace bobbin::executable {
namespace {

constexpr unsigned kMinorBits = 20;  // <linux/kdev_t.h>

std::int64_t nanoseconds_of(const statx_timestamp& time) {
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

std::string link_of(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

}  // namespace

Result<FileStatus> status_of(int fd) {
    struct statx status{};
    constexpr unsigned kWanted =
        STATX_TYPE | STATX_NLINK | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME;
    if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, kWanted, &status) != 0) {
        return fail_with(errno, "statx");
    }
    return FileStatus{.inode = status.stx_ino,
                      .size_bytes = status.stx_size,
                      .mtime_ns = nanoseconds_of(status.stx_mtime),
                      .ctime_ns = nanoseconds_of(status.stx_ctime),
                      .device = status.stx_dev_major << kMinorBits | status.stx_dev_minor,
                      .has_name = status.stx_nlink > 0,
                      .is_regular = S_ISREG(status.stx_mode)};
}

bool is_same_file(const FileStatus& a, const FileStatus& b) {
    return a.device == b.device && a.inode == b.inode && a.size_bytes == b.size_bytes &&
           a.mtime_ns == b.mtime_ns && a.is_regular == b.is_regular;
}

KeyMatch match(const abi::file_key& key, const FileStatus& status) {
    if (key.size_bytes != status.size_bytes || key.mtime_ns != status.mtime_ns) {
        return KeyMatch::kNo;
    }
    const bool same_inode = key.inode == status.inode;
    if (key.device == status.device)
        return same_inode ? KeyMatch::kByDeviceAndInode : KeyMatch::kNo;
    return same_inode ? KeyMatch::kByInode : KeyMatch::kBySizeAndTime;
}

int open_place(const char* path) { return ::open(path, O_PATH | O_CLOEXEC); }

int open_place_cached(int root, const char* path) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = root == AT_FDCWD ? 0 : RESOLVE_IN_ROOT;
    how.resolve |= RESOLVE_CACHED;
    long fd = ::syscall(SYS_openat2, root, path, &how, sizeof(how));
    if (fd >= 0 || errno != EINVAL) return static_cast<int>(fd);
    how.resolve &= ~__u64{RESOLVE_CACHED};
    fd = ::syscall(SYS_openat2, root, path, &how, sizeof(how));
    return static_cast<int>(fd);
}

Result<int> open_contents(int place_fd) {
    const int fd = ::open(link_of(place_fd).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fail_with(errno, "open for reading");
    return fd;
}

std::string name_of(int fd, const FileStatus& status) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(link_of(fd).c_str(), target.data(), target.size());
    if (length < 0) return {};
    std::string path(target.data(), static_cast<std::size_t>(length));
    constexpr std::string_view kDeleted = " (deleted)";
    // A file may be called so; and one of several names may be gone.
    const bool ends_so = path.ends_with(kDeleted);
    if (ends_so && (!status.has_name || ::access(path.c_str(), F_OK) != 0)) {
        path.resize(path.size() - kDeleted.size());
    }
    return path;
}

}  // namespace bobbin::executable
