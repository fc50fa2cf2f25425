// SPDX-License-Identifier: Apache-2.0
#include "dwarf/section.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace bobbin::dwarf {
namespace {

// What is looked at for the end of a string, one after the other. The longest mangled name in
// libLLVM has 4,600 bytes.
constexpr std::array<std::uint64_t, 3> kStringBytes = {1, 4096, 65536};

}  // namespace

Section::Section(std::shared_ptr<SectionSource> source)
    : source_(std::move(source)), size_bytes_(source_->size_bytes()) {}

bool Section::move_window(std::uint64_t offset, std::uint64_t count) {
    memory_ = {};
    if (source_ == nullptr) return false;
    if (const std::optional<HeldBytes> held = source_->hold(offset, count)) {
        memory_ = held->bytes;
        memory_offset_ = held->offset;
        return shows(offset, count);
    }
    const bool is_small = size_bytes_ <= whole_bytes_;
    const std::uint64_t start = is_small ? 0 : offset;
    count = is_small ? size_bytes_
                     : std::min(std::max<std::uint64_t>(count, window_bytes_), size_bytes_ - start);
    if (window_ == nullptr || window_.use_count() > 1 || capacity_ < count) {
        // Not filled with zeros: it is read into next.
        window_ = std::shared_ptr<std::byte[]>(new std::byte[count]);
        capacity_ = count;
    }
    if (!source_->read(start, {window_.get(), count})) return false;
    memory_ = {window_.get(), count};
    memory_offset_ = start;
    return true;
}

std::span<const std::byte> Section::view_at_least(std::uint64_t offset, std::uint64_t count) {
    if (offset >= size_bytes_ || count > kMaxViewBytes) return {};
    count = std::min(count, size_bytes_ - offset);
    if (!shows(offset, count) && !move_window(offset, count)) return {};
    return memory_.subspan(offset - memory_offset_);
}

std::span<const std::byte> Section::shown(std::uint64_t offset, std::uint64_t count) const {
    if (offset >= size_bytes_) return {};
    count = std::min(count, size_bytes_ - offset);
    if (!shows(offset, count)) return {};
    return memory_.subspan(offset - memory_offset_, count);
}

std::span<const std::byte> Section::view(std::uint64_t offset, std::uint64_t count) {
    const std::span<const std::byte> bytes = view_at_least(offset, count);
    return bytes.first(std::min<std::uint64_t>(bytes.size(), count));
}

std::string_view Section::c_string(std::uint64_t offset) {
    for (const std::uint64_t count : kStringBytes) {
        const std::span<const std::byte> bytes = view_at_least(offset, count);
        if (bytes.empty()) return {};
        const std::size_t room = std::min<std::size_t>(bytes.size(), kStringBytes.back());
        const void* zero = std::memchr(bytes.data(), 0, room);
        if (zero == nullptr) continue;
        const auto* text = reinterpret_cast<const char*>(bytes.data());
        return {text, static_cast<std::size_t>(static_cast<const char*>(zero) - text)};
    }
    return {};
}

std::uint64_t Section::number(std::uint64_t offset, unsigned byte_count) {
    const std::span<const std::byte> bytes = view(offset, byte_count);
    std::uint64_t value = 0;
    if (bytes.size() == byte_count) std::memcpy(&value, bytes.data(), byte_count);
    return value;
}

void Section::drop_window() {
    if (source_ == nullptr || window_ == nullptr) return;
    memory_ = {};
    window_.reset();
    capacity_ = 0;
}

}  // namespace bobbin::dwarf
