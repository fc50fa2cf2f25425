// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace bobbin {

// A cursor over untrusted little-endian bytes. Reading past the end gives zeros, stops the cursor
// at the end and makes ok() false for good, so a parser checks once after a group of reads instead
// of before each.
class ByteReader {
public:
    ByteReader() = default;
    explicit ByteReader(std::span<const std::byte> bytes)
        : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool at_end() const { return at_ == end_; }
    [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
    [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

    template <class T>
    T read() {
        T value{};
        if (remaining() < sizeof(T)) {
            fail();
            return value;
        }
        std::memcpy(&value, at_, sizeof(T));
        at_ += sizeof(T);
        return value;
    }
    std::uint8_t u8() { return read<std::uint8_t>(); }
    std::uint16_t u16() { return read<std::uint16_t>(); }
    std::uint32_t u32() { return read<std::uint32_t>(); }
    std::uint64_t u64() { return read<std::uint64_t>(); }

    // DWARF 5 section 7.6. Bits beyond the 64th are dropped, as binutils and libdw do.
    std::uint64_t uleb128() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint8_t byte = u8();
            if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) return value;
        }
    }
    std::int64_t sleb128() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const std::uint8_t byte = u8();
            if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            shift += 7;
            if ((byte & 0x80) != 0) continue;
            if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
    }

    // The bytes up to a zero byte, which is passed over too.
    std::string_view c_string() {
        const void* zero = remaining() > 0 ? std::memchr(at_, 0, remaining()) : nullptr;
        if (zero == nullptr) {
            fail();
            return {};
        }
        const auto* text = reinterpret_cast<const char*>(at_);
        at_ = static_cast<const std::byte*>(zero) + 1;
        return {text, static_cast<std::size_t>(reinterpret_cast<const char*>(at_) - text - 1)};
    }

    std::span<const std::byte> bytes(std::uint64_t count) {
        if (count > remaining()) {
            fail();
            return {};
        }
        const std::span<const std::byte> result(at_, static_cast<std::size_t>(count));
        at_ += count;
        return result;
    }
    void skip(std::uint64_t count) { (void)bytes(count); }

private:
    void fail() {
        ok_ = false;
        at_ = end_;
    }

    const std::byte* begin_ = nullptr;
    const std::byte* at_ = nullptr;
    const std::byte* end_ = nullptr;
    bool ok_ = true;
};

}  // namespace bobbin
