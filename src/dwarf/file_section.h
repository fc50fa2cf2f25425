// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "dwarf/open_debug_file.h"
#include "dwarf/section.h"
#include "dwarf/unpacker.h"

namespace bobbin::dwarf {

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

// A section that is unpacked as a whole, which happens once, at the first look.
class CompressedSection final : public SectionSource {
public:
    CompressedSection(const PackedStream& stream, std::shared_ptr<MemoryLimit> limit)
        : stream_(stream), limit_(std::move(limit)) {}
    CompressedSection(const CompressedSection&) = delete;
    CompressedSection& operator=(const CompressedSection&) = delete;
    ~CompressedSection() override;

    [[nodiscard]] std::uint64_t size_bytes() const override { return stream_.unpacked_bytes; }
    bool read(std::uint64_t /*offset*/, std::span<std::byte> /*target*/) override { return false; }
    std::optional<HeldBytes> hold(std::uint64_t offset, std::uint64_t count) override;

    [[nodiscard]] bool is_unpacked() const { return bytes_ != nullptr; }
    [[nodiscard]] const PackedStream& stream() const { return stream_; }
    [[nodiscard]] const std::shared_ptr<MemoryLimit>& limit() const { return limit_; }

private:
    void unpack();

    PackedStream stream_;
    std::shared_ptr<MemoryLimit> limit_;
    bool was_tried_ = false;
    std::unique_ptr<std::byte[]> bytes_;
};

// A compressed section that is looked at from front to back: it is unpacked on the way, and no more
// of it is kept than the last look was for, with what came after it. A look back has it unpacked as
// a whole, which serves all later ones.
class ForwardSection final : public SectionSource {
public:
    explicit ForwardSection(std::shared_ptr<CompressedSection> whole) : whole_(std::move(whole)) {}
    ForwardSection(const ForwardSection&) = delete;
    ForwardSection& operator=(const ForwardSection&) = delete;
    ~ForwardSection() override { release(); }

    [[nodiscard]] std::uint64_t size_bytes() const override { return whole_->size_bytes(); }
    bool read(std::uint64_t /*offset*/, std::span<std::byte> /*target*/) override { return false; }
    std::optional<HeldBytes> hold(std::uint64_t offset, std::uint64_t count) override;
    [[nodiscard]] bool is_forward() const override { return true; }

private:
    [[nodiscard]] std::uint64_t end() const { return start_ + filled_bytes_; }
    bool advance(std::uint64_t offset, std::uint64_t count);
    bool reserve(std::size_t capacity);
    bool unpack_more(std::size_t room);
    void release();

    std::shared_ptr<CompressedSection> whole_;
    std::unique_ptr<Unpacker> unpacker_;
    bool was_left_ = false;  // for the whole
    // [start_, +filled_bytes_) of the section.
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t capacity_ = 0;
    std::uint64_t start_ = 0;
    std::size_t filled_bytes_ = 0;
};

}  // namespace bobbin::dwarf
