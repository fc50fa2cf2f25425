// SPDX-License-Identifier: Apache-2.0
#include "profile/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <span>

namespace bobbin::profile {
namespace {

// A profile of 2.9 MB: level 1 gives 924 kB in 18 ms, level 6 gives 867 kB in 54 ms.
constexpr int kLevel = 1;
constexpr int kGzipHeader = 16;  // added to the window bits: gzip instead of zlib framing
constexpr int kDefaultMemory = 8;
constexpr std::size_t kFirstBytes = 64 << 10;

// The text of gzip members, one behind the other.
class Inflater {
public:
    Inflater() = default;
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() { inflateEnd(&stream_); }

    Result<> begin(std::string_view bytes) {
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        if (const int code = inflateInit2(&stream_, MAX_WBITS + kGzipHeader); code != Z_OK) {
            return fail("decompress: {}", zError(code));
        }
        return {};
    }

    // How many bytes of `to` were filled; fewer than all at the end.
    Result<std::size_t> read(std::span<char> to) {
        stream_.next_out = reinterpret_cast<Bytef*>(to.data());
        stream_.avail_out = static_cast<uInt>(to.size());
        while (stream_.avail_out != 0 && !at_end_) {
            const int code = inflate(&stream_, Z_NO_FLUSH);
            if (code == Z_STREAM_END) {
                at_end_ = stream_.avail_in == 0;
                if (!at_end_ && inflateReset(&stream_) != Z_OK) return fail("decompress: reset");
            } else if (code != Z_OK) {
                return fail("decompress: {}", code == Z_BUF_ERROR ? "cut off" : zError(code));
            }
        }
        return to.size() - stream_.avail_out;
    }

private:
    z_stream stream_{};
    bool at_end_ = false;
};

}  // namespace

Result<std::string> gzip(std::string_view bytes) {
    if (bytes.size() > std::numeric_limits<uInt>::max()) {
        return fail("compress {} bytes: more than 4 GiB", bytes.size());
    }
    z_stream stream{};
    if (const int code = deflateInit2(&stream, kLevel, Z_DEFLATED, MAX_WBITS + kGzipHeader,
                                      kDefaultMemory, Z_DEFAULT_STRATEGY);
        code != Z_OK) {
        return fail("compress {} bytes: {}", bytes.size(), zError(code));
    }
    std::string compressed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    const int code = deflate(&stream, Z_FINISH);
    compressed.resize(stream.total_out);
    deflateEnd(&stream);
    if (code != Z_STREAM_END) return fail("compress {} bytes: {}", bytes.size(), zError(code));
    return compressed;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> gunzip(std::string_view bytes, std::size_t max_bytes) {
    if (bytes.size() > std::numeric_limits<uInt>::max()) {
        return fail("decompress {} bytes: more than 4 GiB", bytes.size());
    }
    Inflater inflater;
    BOBBIN_CHECK(inflater.begin(bytes));
    std::string text;
    while (true) {
        const std::size_t had = text.size();
        // One byte more than allowed tells a text of `max_bytes` from a longer one.
        text.resize(std::min(max_bytes + 1, std::max(had * 2, kFirstBytes)));
        BOBBIN_TRY(const std::size_t added, inflater.read(std::span(text).subspan(had)));
        const bool at_end = had + added < text.size();
        text.resize(had + added);
        if (text.size() > max_bytes) return fail("decompress: more than {} bytes", max_bytes);
        if (at_end) return text;
    }
}

}  // namespace bobbin::profile
