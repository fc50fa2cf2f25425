// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dwarf/open_debug_file.h"
#include "dwarf/section.h"

namespace bobbin::dwarf {

// All of [offset, +target) of a file, or false: also where it became shorter meanwhile.
bool read_file(int fd, std::uint64_t offset, std::span<std::byte> target);

// Bytes of a file as they are.
class FileSection final : public SectionSource {
public:
    FileSection(int fd, std::uint64_t file_offset, std::uint64_t size_bytes)
        : fd_(fd), file_offset_(file_offset), size_bytes_(size_bytes) {}

    [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }
    bool read(std::uint64_t offset, std::span<std::byte> target) override;

private:
    int fd_;
    std::uint64_t file_offset_;
    std::uint64_t size_bytes_;
};

// A section that has to be unpacked as a whole, which happens once, at the first look.
class CompressedSection final : public SectionSource {
public:
    enum class Method : std::uint8_t { kZlib, kZstd };
    struct Stream {
        int fd = -1;
        std::uint64_t file_offset = 0;
        std::uint64_t size_bytes = 0;
        std::uint64_t unpacked_bytes = 0;
        Method method = Method::kZlib;
    };

    CompressedSection(const Stream& stream, std::shared_ptr<MemoryLimit> limit)
        : stream_(stream), limit_(std::move(limit)) {}
    CompressedSection(const CompressedSection&) = delete;
    CompressedSection& operator=(const CompressedSection&) = delete;
    ~CompressedSection() override;

    [[nodiscard]] std::uint64_t size_bytes() const override { return stream_.unpacked_bytes; }
    bool read(std::uint64_t /*offset*/, std::span<std::byte> /*target*/) override { return false; }
    std::span<const std::byte> in_memory() override;

private:
    Stream stream_;
    std::shared_ptr<MemoryLimit> limit_;
    bool was_tried_ = false;
    std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace bobbin::dwarf
