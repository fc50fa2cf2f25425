// SPDX-License-Identifier: Apache-2.0
#include "elf/file_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace bobbin::elf {

Result<FileBytes> FileBytes::of_fd(int fd) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) return fail_with(errno, "fstat");
    if (!S_ISREG(status.st_mode)) return fail("not a regular file");
    FileBytes bytes;
    bytes.fd_ = fd;
    bytes.size_bytes_ = static_cast<std::uint64_t>(status.st_size);
    return bytes;
}

Result<std::vector<std::byte>> FileBytes::read(std::uint64_t offset, std::uint64_t count) const {
    return read_array<std::byte>(offset, count);
}

Failure FileBytes::leaves_file(std::uint64_t offset, std::uint64_t count) const {
    return fail("{} bytes at {:#x} leave the file of {} bytes", count, offset, size_bytes_);
}

// pread leaves the offset alone, which the fd may share with others.
Result<> FileBytes::fill(std::uint64_t offset, std::span<std::byte> target) const {
    while (!target.empty()) {
        const ssize_t count =
            ::pread(fd_, target.data(), target.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_with(errno, "pread at {:#x}", offset);
        if (count == 0) return fail("the file ends at {:#x}, earlier than it did", offset);
        target = target.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
    return {};
}

}  // namespace bobbin::elf
