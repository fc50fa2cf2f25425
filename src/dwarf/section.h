// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bobbin::dwarf {

// A part of a section that lies in memory.
struct HeldBytes {
    std::span<const std::byte> bytes;
    std::uint64_t offset = 0;
};

// Where the bytes of one section come from: a file, or memory. Reads are whole or they fail.
class SectionSource {
public:
    virtual ~SectionSource() = default;
    [[nodiscard]] virtual std::uint64_t size_bytes() const = 0;
    virtual bool read(std::uint64_t offset, std::span<std::byte> target) = 0;
    // What has to lie in memory anyway, because it is compressed: a part with [offset, +count) in
    // it, or none where that cannot be had. Valid until the next call. nullopt: it is to be read.
    virtual std::optional<HeldBytes> hold(std::uint64_t /*offset*/, std::uint64_t /*count*/) {
        return std::nullopt;
    }
    // Whether a look back costs far more than one ahead.
    [[nodiscard]] virtual bool is_forward() const { return false; }
};

// A section seen through a window, so that .debug_info of gigabytes costs as much memory as its
// largest unit, which is refused beyond kMaxViewBytes. A copy looks at the same source through its
// own window. Where nothing can be read there are no bytes: readers find them too short, as in a
// truncated section.
class Section {
public:
    static constexpr std::uint64_t kMaxViewBytes = 256ULL << 20;

    Section() = default;
    explicit Section(std::shared_ptr<SectionSource> source);
    // Bytes that outlive the section.
    explicit Section(std::span<const std::byte> bytes)
        : memory_(bytes), size_bytes_(bytes.size()) {}

    [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
    [[nodiscard]] bool is_empty() const { return size_bytes_ == 0; }
    [[nodiscard]] bool is_forward() const { return source_ != nullptr && source_->is_forward(); }

    // [offset, +count), cut off at the section's end. Valid until the next call.
    std::span<const std::byte> view(std::uint64_t offset, std::uint64_t count);
    // The same, with all that the window has or, when it has to move, shall have behind `offset`: a
    // list is read on from there without its length being known.
    std::span<const std::byte> view_at_least(std::uint64_t offset, std::uint64_t count);
    // The same as view() where the window has all of it, else empty: the window stays where it is.
    [[nodiscard]] std::span<const std::byte> shown(std::uint64_t offset, std::uint64_t count) const;
    // Up to the zero; empty where there is none within 64 KiB. Valid until the next call.
    std::string_view c_string(std::uint64_t offset);
    // A little-endian number of up to 8 bytes; 0 where it leaves the section.
    std::uint64_t number(std::uint64_t offset, unsigned byte_count);

    // What a look past the window reads at least. Strings lie scattered, lists one behind another.
    void set_window_bytes(std::size_t bytes) { window_bytes_ = bytes; }
    // A section that is not larger is read whole.
    void set_whole_bytes(std::size_t bytes) { whole_bytes_ = bytes; }
    void drop_window();

private:
    [[nodiscard]] bool shows(std::uint64_t offset, std::uint64_t count) const {
        return offset >= memory_offset_ && offset - memory_offset_ <= memory_.size() &&
               memory_.size() - (offset - memory_offset_) >= count;
    }
    bool move_window(std::uint64_t offset, std::uint64_t count);

    std::shared_ptr<SectionSource> source_;
    std::span<const std::byte> memory_;  // what the window shows
    std::uint64_t memory_offset_ = 0;
    std::uint64_t size_bytes_ = 0;
    std::size_t window_bytes_ = 4096;
    std::size_t whole_bytes_ = 64U << 10;
    std::size_t capacity_ = 0;
    std::shared_ptr<std::byte[]> window_;
};

}  // namespace bobbin::dwarf
