// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace bobbin::dwarf {

// All of [offset, +target) of a file, or false: also where it became shorter meanwhile.
bool read_file(int fd, std::uint64_t offset, std::span<std::byte> target);

// A compressed section as it lies in a file, without its header.
struct PackedStream {
    enum class Method : std::uint8_t { kZlib, kZstd };

    int fd = -1;
    std::uint64_t file_offset = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t unpacked_bytes = 0;  // which is a claim
    Method method = Method::kZlib;
};

// Unpacks a stream from its beginning on, piece by piece.
class Unpacker {
public:
    static std::unique_ptr<Unpacker> open(const PackedStream& stream);

    virtual ~Unpacker() = default;
    // What comes next: all of `target`, which has less than 4 GiB. False for good where the stream
    // is damaged or ends before.
    virtual bool next(std::span<std::byte> target) = 0;
};

}  // namespace bobbin::dwarf
