// SPDX-License-Identifier: Apache-2.0
#include "store/segment_file.h"

#include <zstd.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "base/byte_reader.h"
#include "profile/pprof.h"
#include "profile/read_pprof.h"

namespace bobbin::store {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint32_t kSkippableMagic = 0x184D2A50 + 11;  // RFC 8878: 0x184D2A50 to 5F
constexpr std::uint32_t kHeadMagic = 0x424F4231;            // ours, and its layout
constexpr std::size_t kFrameHeaderBytes = 8;
// A minute of a compiler at work on 2 CPUs (2,275 samples, 681 kB) takes 199 kB and 4 ms at level
// 3, 184 kB and 12 ms at 6, 182 kB and 20 ms at 9, 146 kB and 400 ms at 19.
constexpr int kCompressionLevel = 6;
// Of one segment, unpacked. A minute of 128 busy CPUs has 44 MB where hardly a stack comes twice.
constexpr std::size_t kMaxSegmentBytes = std::size_t{256} << 20;

template <class T>
void append(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// FNV-1a, 64 bits: tells damage, not malice.
std::uint64_t checksum_of(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : bytes) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3;
    }
    return hash;
}

std::string encode_head(const SegmentFacts& facts) {
    std::string head;
    append<std::uint32_t>(head, kSkippableMagic);
    append<std::uint32_t>(head, kSegmentHeadBytes - kFrameHeaderBytes);
    append<std::uint32_t>(head, kHeadMagic);
    append<std::uint32_t>(head, 0);  // aligns what follows
    const auto begin = std::chrono::duration_cast<nanoseconds>(facts.begin.time_since_epoch());
    append<std::int64_t>(head, begin.count());
    append<std::int64_t>(head, facts.duration.count());
    append<std::uint64_t>(head, facts.sample_count);
    append<std::uint64_t>(head, facts.cpu_ns);
    append<std::int64_t>(head, facts.time_bucket.count());
    append<std::uint64_t>(head, checksum_of(head));
    return head;
}

Result<std::string> compress(std::string_view text) {
    struct Free {
        void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
    if (context == nullptr) return fail_with(ENOMEM, "compress a segment");
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kCompressionLevel);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    const std::size_t size =
        ZSTD_compress2(context.get(), packed.data(), packed.size(), text.data(), text.size());
    if (ZSTD_isError(size) != 0) return fail("compress a segment: {}", ZSTD_getErrorName(size));
    packed.resize(size);
    return packed;
}

Result<std::string> decompress(std::string_view packed) {
    const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
        return fail("its profile is not where it should be");
    }
    if (size > kMaxSegmentBytes)
        return fail("its profile is of more than {} bytes", kMaxSegmentBytes);
    std::string text(static_cast<std::size_t>(size), '\0');
    const std::size_t got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) != 0) return fail("damaged: {}", ZSTD_getErrorName(got));
    if (got != text.size()) return fail("damaged: {} of {} bytes", got, text.size());
    return text;
}

// Offsets in pprof are multiples of the true span, so what they have in common is too.
void restore_spans(nanoseconds span, symbolize::NamedProfile& profile) {
    const nanoseconds read = std::exchange(profile.time_bucket, span);
    if (read.count() == 0 || span.count() <= 0) {
        profile.time_bucket = read;
        return;
    }
    for (symbolize::NamedStack& stack : profile.stacks) {
        for (aggregate::TimeCount& time : stack.times) {
            time.bucket = static_cast<std::uint32_t>(time.bucket * read / span);
        }
    }
}

}  // namespace

SegmentFacts facts_of(const symbolize::NamedProfile& profile) {
    SegmentFacts facts{.begin = profile.started,
                       .duration = profile.duration,
                       .sample_count = profile.sample_count,
                       .cpu_ns = 0,
                       .time_bucket = profile.time_bucket};
    for (const symbolize::NamedStack& stack : profile.stacks) facts.cpu_ns += stack.value;
    return facts;
}

Result<std::string> encode_segment(const symbolize::NamedProfile& profile) {
    std::string bytes = encode_head(facts_of(profile));
    const std::string text = profile::encode_pprof_uncompressed(profile, profile::Times::kKeep);
    if (text.empty() || text.size() > kMaxSegmentBytes) {
        return fail_with(EFBIG, "encode a segment");
    }
    BOBBIN_TRY(const std::string packed, compress(text));
    return bytes.append(packed);
}

Result<SegmentFacts> decode_segment_head(std::string_view bytes) {
    if (bytes.size() < kSegmentHeadBytes) return fail("it ends within its head");
    const std::string_view head = bytes.substr(0, kSegmentHeadBytes);
    ByteReader reader(std::as_bytes(std::span(head)));
    const bool is_ours = reader.u32() == kSkippableMagic &&
                         reader.u32() == kSegmentHeadBytes - kFrameHeaderBytes &&
                         reader.u32() == kHeadMagic;
    if (!is_ours) return fail("it is no segment of bobbin");
    reader.skip(sizeof(std::uint32_t));
    SegmentFacts facts;
    const nanoseconds begin{reader.read<std::int64_t>()};
    facts.begin = std::chrono::system_clock::time_point{
        std::chrono::duration_cast<std::chrono::system_clock::duration>(begin)};
    facts.duration = nanoseconds{reader.read<std::int64_t>()};
    facts.sample_count = reader.u64();
    facts.cpu_ns = reader.u64();
    facts.time_bucket = nanoseconds{reader.read<std::int64_t>()};
    if (checksum_of(head.substr(0, reader.position())) != reader.u64()) {
        return fail("its head is damaged");
    }
    return facts;
}

Result<symbolize::NamedProfile> decode_segment(std::string_view bytes) {
    BOBBIN_TRY(const SegmentFacts facts, decode_segment_head(bytes));
    BOBBIN_TRY(const std::string text, decompress(bytes.substr(kSegmentHeadBytes)));
    BOBBIN_TRY(symbolize::NamedProfile profile, profile::read_pprof(text));
    restore_spans(facts.time_bucket, profile);
    return profile;
}

}  // namespace bobbin::store
