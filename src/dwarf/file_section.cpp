// SPDX-License-Identifier: Apache-2.0
#include "dwarf/file_section.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace bobbin::dwarf {
namespace {

constexpr std::uint64_t kInputBytes = 256U << 10;
using Stream = CompressedSection::Stream;

// Hands the stream's bytes on in pieces. False: the file is shorter than it was.
class Input {
public:
    explicit Input(const Stream& stream) : stream_(stream), piece_(kInputBytes) {}

    bool next(std::span<std::byte>& bytes) {
        const std::uint64_t count = std::min(stream_.size_bytes - position_, kInputBytes);
        bytes = std::span(piece_).first(count);
        if (count == 0 || !read_file(stream_.fd, stream_.file_offset + position_, bytes)) {
            return false;
        }
        position_ += count;
        return true;
    }

private:
    const Stream& stream_;
    std::vector<std::byte> piece_;
    std::uint64_t position_ = 0;
};

// zlib counts in 32 bits; a section has at most Section::kMaxViewBytes.
bool inflate_all(const Stream& stream, std::span<std::byte> target) {
    z_stream state{};
    if (::inflateInit(&state) != Z_OK) return false;
    state.next_out = reinterpret_cast<Bytef*>(target.data());
    state.avail_out = static_cast<uInt>(target.size());
    Input input(stream);
    int status = Z_OK;
    for (std::span<std::byte> piece; status == Z_OK && input.next(piece);) {
        state.next_in = reinterpret_cast<Bytef*>(piece.data());
        state.avail_in = static_cast<uInt>(piece.size());
        status = ::inflate(&state, Z_NO_FLUSH);
    }
    ::inflateEnd(&state);
    return status == Z_STREAM_END && state.avail_out == 0;
}

bool unpack_zstd(const Stream& stream, std::span<std::byte> target) {
    const std::unique_ptr<ZSTD_DCtx, decltype(&::ZSTD_freeDCtx)> context(::ZSTD_createDCtx(),
                                                                         &::ZSTD_freeDCtx);
    if (context == nullptr) return false;
    ZSTD_outBuffer out{target.data(), target.size(), 0};
    Input input(stream);
    for (std::span<std::byte> piece; out.pos < out.size && input.next(piece);) {
        ZSTD_inBuffer in{piece.data(), piece.size(), 0};
        while (in.pos < in.size && out.pos < out.size) {
            const std::size_t in_before = in.pos;
            const std::size_t out_before = out.pos;
            const std::size_t status = ::ZSTD_decompressStream(context.get(), &out, &in);
            if (::ZSTD_isError(status) != 0) return false;
            if (in.pos == in_before && out.pos == out_before) break;
        }
    }
    return out.pos == out.size;
}

}  // namespace

bool read_file(int fd, std::uint64_t offset, std::span<std::byte> target) {
    while (!target.empty()) {
        const ssize_t count = ::pread(fd, target.data(), target.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        target = target.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
    return true;
}

bool FileSection::read(std::uint64_t offset, std::span<std::byte> target) {
    return read_file(fd_, file_offset_ + offset, target);
}

CompressedSection::~CompressedSection() {
    if (bytes_ != nullptr) limit_->remaining_bytes += stream_.unpacked_bytes;
}

std::span<const std::byte> CompressedSection::in_memory() {
    const std::uint64_t size = stream_.unpacked_bytes;
    if (!was_tried_ && size > 0 && size <= limit_->remaining_bytes) {
        // Not filled with zeros: each byte is written, or nothing is used.
        bytes_ = std::unique_ptr<std::byte[]>(new std::byte[size]);
        const std::span<std::byte> target(bytes_.get(), size);
        const bool is_unpacked = stream_.method == Method::kZlib ? inflate_all(stream_, target)
                                                                 : unpack_zstd(stream_, target);
        if (is_unpacked) {
            limit_->remaining_bytes -= size;
        } else {
            bytes_.reset();
        }
    }
    was_tried_ = true;
    if (bytes_ == nullptr) return {};
    return {bytes_.get(), size};
}

}  // namespace bobbin::dwarf
