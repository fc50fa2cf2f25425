// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace bobbin::test {

// Little-endian bytes, written one after another as an assembler would.
class ByteWriter {
public:
    template <class T>
    ByteWriter& put(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
        return *this;
    }
    ByteWriter& u8(std::uint8_t value) { return put(value); }
    ByteWriter& u8s(std::initializer_list<std::uint8_t> values) {
        for (const std::uint8_t value : values) u8(value);
        return *this;
    }
    ByteWriter& u16(std::uint16_t value) { return put(value); }
    ByteWriter& u32(std::uint32_t value) { return put(value); }
    ByteWriter& u64(std::uint64_t value) { return put(value); }
    ByteWriter& text(std::string_view value) {
        bytes_.append(value);
        return u8(0);
    }
    ByteWriter& append(const ByteWriter& other) {
        bytes_.append(other.bytes_);
        return *this;
    }
    // A 32-bit length, then what `content` wrote: units, tables, lists.
    static ByteWriter with_length(const ByteWriter& content) {
        ByteWriter whole;
        whole.u32(static_cast<std::uint32_t>(content.size()));
        return whole.append(content);
    }

    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] std::span<const std::byte> bytes() const {
        return std::as_bytes(std::span(bytes_));
    }

private:
    std::string bytes_;
};

}  // namespace bobbin::test
