// SPDX-License-Identifier: Apache-2.0
#include "symbolize/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bobbin::symbolize {

ByteSource bytes_in_memory(std::span<const std::byte> bytes) {
    const auto read = [bytes](std::uint64_t offset, std::span<std::byte> target) {
        if (offset >= bytes.size()) return std::size_t{0};
        const auto rest = bytes.subspan(static_cast<std::size_t>(offset));
        const std::size_t count = std::min(rest.size(), target.size());
        std::copy_n(rest.begin(), count, target.begin());
        return count;
    };
    return {.size_bytes = bytes.size(), .read = read};
}

ByteSource bytes_of_file(int fd) {
    const auto read = [fd](std::uint64_t offset, std::span<std::byte> target) {
        std::size_t done = 0;
        while (done < target.size()) {
            const ssize_t count = ::pread(fd, target.data() + done, target.size() - done,
                                          static_cast<off_t>(offset + done));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) break;
            done += static_cast<std::size_t>(count);
        }
        return done;
    };
    struct stat status{};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return {.read = read};
    return {.size_bytes = static_cast<std::uint64_t>(status.st_size), .read = read};
}

}  // namespace bobbin::symbolize
