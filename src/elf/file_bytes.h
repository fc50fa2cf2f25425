// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace bobbin::elf {

// The bytes of a file, read by offset. Every read is checked against the size before memory is
// taken for it.
class FileBytes {
public:
    // `fd` is borrowed. Error: not a regular file; reading from a FIFO or a device may block.
    static Result<FileBytes> of_fd(int fd);

    [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
    [[nodiscard]] int fd() const { return fd_; }

    [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t count) const {
        return offset <= size_bytes_ && count <= size_bytes_ - offset;
    }
    // All of [offset, +count), or an error: also where the file became shorter meanwhile.
    [[nodiscard]] Result<std::vector<std::byte>> read(std::uint64_t offset,
                                                      std::uint64_t count) const;
    // An array of the file's structures, such as its program headers.
    template <class T>
    [[nodiscard]] Result<std::vector<T>> read_array(std::uint64_t offset, std::size_t count) const {
        static_assert(std::is_trivially_copyable_v<T>);
        if (!contains(offset, count * sizeof(T))) return leaves_file(offset, count * sizeof(T));
        std::vector<T> values(count);
        BOBBIN_CHECK(fill(offset, std::as_writable_bytes(std::span(values))));
        return values;
    }

private:
    [[nodiscard]] Failure leaves_file(std::uint64_t offset, std::uint64_t count) const;
    [[nodiscard]] Result<> fill(std::uint64_t offset, std::span<std::byte> target) const;

    int fd_ = -1;
    std::uint64_t size_bytes_ = 0;
};

}  // namespace bobbin::elf
