// SPDX-License-Identifier: Apache-2.0
#include "dwarf/file_section.h"

#include <algorithm>
#include <cstring>

namespace bobbin::dwarf {
namespace {

// What is unpacked at once: little enough for the cache of a core, which makes passing over bytes
// cheaper than keeping them.
constexpr std::size_t kUnpackBytes = 512U << 10;

}  // namespace

bool FileSection::read(std::uint64_t offset, std::span<std::byte> target) {
    return read_file(fd_, file_offset_ + offset, target);
}

CompressedSection::~CompressedSection() {
    if (bytes_ != nullptr) limit_->remaining_bytes += stream_.unpacked_bytes;
}

void CompressedSection::unpack() {
    was_tried_ = true;
    const std::uint64_t size = stream_.unpacked_bytes;
    if (size == 0 || size > limit_->remaining_bytes) return;
    // Not filled with zeros: each byte is written, or nothing is used.
    std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
    if (!Unpacker::open(stream_)->next({bytes.get(), size})) return;
    limit_->remaining_bytes -= size;
    bytes_ = std::move(bytes);
}

std::optional<HeldBytes> CompressedSection::hold(std::uint64_t /*offset*/,
                                                 std::uint64_t /*count*/) {
    if (!was_tried_) unpack();
    if (bytes_ == nullptr) return HeldBytes{};
    return HeldBytes{{bytes_.get(), stream_.unpacked_bytes}, 0};
}

std::optional<HeldBytes> ForwardSection::hold(std::uint64_t offset, std::uint64_t count) {
    const bool is_ahead = !was_left_ && !whole_->is_unpacked() && offset >= start_;
    if (is_ahead && advance(offset, count)) {
        return HeldBytes{{bytes_.get(), filled_bytes_}, start_};
    }
    was_left_ = true;
    release();
    return whole_->hold(offset, count);
}

bool ForwardSection::advance(std::uint64_t offset, std::uint64_t count) {
    if (offset <= end() && count <= end() - offset) return true;
    if (unpacker_ == nullptr) unpacker_ = Unpacker::open(whole_->stream());
    while (end() < offset) {
        start_ = end();
        filled_bytes_ = 0;
        if (!reserve(kUnpackBytes) || !unpack_more(kUnpackBytes)) return false;
    }
    const auto passed_bytes = static_cast<std::size_t>(offset - start_);
    filled_bytes_ -= passed_bytes;
    if (filled_bytes_ > 0) {
        std::memmove(bytes_.get(), bytes_.get() + passed_bytes, filled_bytes_);
    }
    start_ = offset;
    if (!reserve(count + kUnpackBytes)) return false;
    while (filled_bytes_ < count) {
        if (!unpack_more(std::max<std::size_t>(kUnpackBytes, count - filled_bytes_))) return false;
    }
    return true;
}

bool ForwardSection::reserve(std::size_t capacity) {
    if (capacity <= capacity_) return true;
    if (capacity - capacity_ > whole_->limit()->remaining_bytes) return false;
    std::unique_ptr<std::byte[]> more(new std::byte[capacity]);
    if (filled_bytes_ > 0) std::memcpy(more.get(), bytes_.get(), filled_bytes_);
    bytes_ = std::move(more);
    whole_->limit()->remaining_bytes -= capacity - capacity_;
    capacity_ = capacity;
    return true;
}

bool ForwardSection::unpack_more(std::size_t room) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(room, size_bytes() - end()));
    if (count == 0 || !unpacker_->next({bytes_.get() + filled_bytes_, count})) return false;
    filled_bytes_ += count;
    return true;
}

void ForwardSection::release() {
    whole_->limit()->remaining_bytes += capacity_;
    capacity_ = 0;
    filled_bytes_ = 0;
    bytes_.reset();
    unpacker_.reset();
}

}  // namespace bobbin::dwarf
