// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace bobbin::symbolize {

// A file that somebody may still be writing, as it is when it is read: no more than `size_bytes`.
struct ByteSource {
    std::uint64_t size_bytes = 0;
    // Fills `target` from `offset` on; how many bytes there were. Fewer: the file is shorter by
    // now, or cannot be read.
    std::function<std::size_t(std::uint64_t offset, std::span<std::byte> target)> read;
};

ByteSource bytes_in_memory(std::span<const std::byte> bytes);
// `fd` is borrowed and of a regular file.
ByteSource bytes_of_file(int fd);

}  // namespace bobbin::symbolize
