// SPDX-License-Identifier: Apache-2.0
#include "symbolize/object_messages.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/byte_reader.h"

namespace bobbin::symbolize {
namespace {

class ByteWriter {
public:
    template <class T>
    void number(T value) {
        append(&value, sizeof(value));
    }
    void count(std::size_t value) { number(static_cast<std::uint32_t>(value)); }
    void text(std::string_view value) {
        value = value.substr(0, kMaxTextBytes);
        count(value.size());
        append(value.data(), value.size());
    }
    void addresses(std::span<const std::uint64_t> values) {
        count(values.size());
        append(values.data(), values.size_bytes());
    }
    void bytes(std::span<const std::byte> value) { append(value.data(), value.size()); }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    void append(const void* data, std::size_t size) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + size);
        if (size != 0) std::memcpy(bytes_.data() + at, data, size);
    }

    std::vector<std::byte> bytes_;
};

// What was read cannot be: as if the bytes had ended too early.
void refuse(ByteReader& reader) { reader.skip(reader.remaining() + std::uint64_t{1}); }

std::string read_text(ByteReader& reader) {
    const std::uint32_t size = reader.u32();
    if (size > kMaxTextBytes) {
        refuse(reader);
        return {};
    }
    const std::span<const std::byte> text = reader.bytes(size);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

// A count of things that each take `item_bytes` at least; 0 where they cannot be there.
std::size_t read_count(ByteReader& reader, std::size_t item_bytes) {
    const std::uint32_t count = reader.u32();
    if (count <= reader.remaining() / item_bytes) return count;
    refuse(reader);
    return 0;
}

// An empty std::string takes eight times the bytes of an empty text.
constexpr std::size_t kMaxTexts = std::size_t{1} << 20;
constexpr std::size_t kFrameBytes = 3 * sizeof(std::uint32_t);

// Each text once, numbered as they come.
class TextNumbers {
public:
    std::uint32_t of(const std::string& text) {
        const auto next = static_cast<std::uint32_t>(texts_.size());
        const auto [found, is_new] = numbers_.try_emplace(text, next);
        if (is_new) texts_.push_back(text);
        return found->second;
    }
    [[nodiscard]] std::span<const std::string_view> texts() const { return texts_; }

private:
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
    std::vector<std::string_view> texts_;
};

std::vector<std::string> read_texts(ByteReader& reader) {
    const std::size_t count = read_count(reader, sizeof(std::uint32_t));
    if (count > kMaxTexts) {
        refuse(reader);
        return {};
    }
    std::vector<std::string> texts(count);
    for (std::string& text : texts) text = read_text(reader);
    return texts;
}

std::vector<std::uint64_t> read_addresses(ByteReader& reader) {
    std::vector<std::uint64_t> addresses(read_count(reader, sizeof(std::uint64_t)));
    for (std::uint64_t& address : addresses) address = reader.u64();
    return addresses;
}

class FrameReader {
public:
    FrameReader(ByteReader& reader, std::span<const std::string> texts)
        : reader_(reader), texts_(texts) {}

    // Of one address. False: what the bytes say cannot be.
    bool read(std::vector<NamedFrame>& frames) {
        const std::size_t count = read_count(reader_, kFrameBytes);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t name = reader_.u32();
            const std::uint32_t file = reader_.u32();
            if (name >= texts_.size() || file >= texts_.size()) return false;
            bytes_ += sizeof(NamedFrame) + texts_[name].size() + texts_[file].size();
            if (bytes_ > kMaxNamesBytes) return false;
            frames.push_back({texts_[name], texts_[file], reader_.u32(), {}});
        }
        return reader_.ok();
    }

private:
    ByteReader& reader_;
    std::span<const std::string> texts_;
    std::size_t bytes_ = 0;
};

}  // namespace

std::vector<std::byte> encode(const ObjectRequest& request) {
    ByteWriter writer;
    writer.number(static_cast<std::uint8_t>(request.detail));
    writer.number(static_cast<std::uint32_t>(request.time_limit.count()));
    writer.text(request.path);
    writer.count(request.debug_directories.size());
    for (const std::string& directory : request.debug_directories) writer.text(directory);
    writer.text(request.downloads);
    writer.addresses(request.addresses);
    return writer.take();
}

Result<ObjectRequest> decode_request(std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    ObjectRequest request;
    request.detail = static_cast<SymbolDetail>(
        std::min<std::uint8_t>(reader.u8(), static_cast<std::uint8_t>(SymbolDetail::kInlines)));
    request.time_limit = std::chrono::milliseconds{reader.u32()};
    request.path = read_text(reader);
    request.debug_directories = read_texts(reader);
    request.downloads = read_text(reader);
    request.addresses = read_addresses(reader);
    if (!reader.ok()) return fail("a request that cannot be read");
    return request;
}

std::vector<std::byte> encode(const CodeMapRequest& request) {
    ByteWriter writer;
    writer.number(static_cast<std::uint8_t>(request.kind));
    writer.addresses(request.addresses);
    return writer.take();
}

Result<CodeMapRequest> decode_code_map_request(std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    CodeMapRequest request;
    request.kind = reader.u8() == 0 ? CodeMapKind::kJitdump : CodeMapKind::kPerfMap;
    request.addresses = read_addresses(reader);
    if (!reader.ok()) return fail("a request that cannot be read");
    return request;
}

std::vector<std::byte> encode(const DemangleRequest& request) {
    ByteWriter writer;
    writer.number(static_cast<std::uint8_t>(request.style));
    writer.bytes(encode(std::span(request.system_names)));
    return writer.take();
}

Result<DemangleRequest> decode_demangle_request(std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    DemangleRequest request;
    request.style = static_cast<DemangleStyle>(
        std::min<std::uint8_t>(reader.u8(), static_cast<std::uint8_t>(DemangleStyle::kFull)));
    request.system_names = read_texts(reader);
    if (!reader.ok()) return fail("a request that cannot be read");
    return request;
}

std::vector<std::byte> encode(const ObjectNames& names) {
    TextNumbers texts;
    ByteWriter frames;
    for (const std::vector<NamedFrame>& of_address : names.names) {
        frames.count(of_address.size());
        for (const NamedFrame& frame : of_address) {
            frames.number(texts.of(frame.system_name));
            frames.number(texts.of(frame.file));
            frames.number(frame.line);
        }
    }
    ByteWriter writer;
    writer.number(static_cast<std::uint8_t>(names.quality.has_debug_info));
    writer.number(static_cast<std::uint8_t>(names.quality.lacks_supplementary_file));
    writer.number(static_cast<std::uint8_t>(names.quality.is_out_of_time));
    writer.number(std::uint64_t{names.quality.missing_split_units});
    writer.count(texts.texts().size());
    for (const std::string_view text : texts.texts()) writer.text(text);
    writer.bytes(frames.take());
    return writer.take();
}

Result<ObjectNames> decode_names(std::span<const std::byte> bytes, std::size_t address_count) {
    ByteReader reader(bytes);
    ObjectNames result;
    result.quality.has_debug_info = reader.u8() != 0;
    result.quality.lacks_supplementary_file = reader.u8() != 0;
    result.quality.is_out_of_time = reader.u8() != 0;
    result.quality.missing_split_units = reader.u64();
    const std::vector<std::string> texts = read_texts(reader);
    FrameReader frames(reader, texts);
    result.names.resize(address_count);
    for (std::vector<NamedFrame>& of_address : result.names) {
        if (!frames.read(of_address)) return fail("an answer that cannot be read");
    }
    if (!reader.ok() || !reader.at_end()) return fail("an answer that cannot be read");
    return result;
}

std::vector<std::byte> encode(std::span<const std::string> texts) {
    ByteWriter writer;
    writer.count(texts.size());
    for (const std::string& text : texts) writer.text(text);
    return writer.take();
}

Result<std::vector<std::string>> decode_texts(std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    std::vector<std::string> texts = read_texts(reader);
    if (!reader.ok() || !reader.at_end()) return fail("texts that cannot be read");
    return texts;
}

std::vector<std::byte> encode(const std::string& text) {
    ByteWriter writer;
    writer.text(text);
    return writer.take();
}

std::string decode_text(std::span<const std::byte> bytes) {
    ByteReader reader(bytes);
    return read_text(reader);
}

}  // namespace bobbin::symbolize
