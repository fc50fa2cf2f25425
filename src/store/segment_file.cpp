// SPDX-License-Identifier: Apache-2.0
#include "store/segment_file.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "base/byte_reader.h"
#include "profile/pprof.h"
#include "profile/read_pprof.h"
#include "store/cpu_sums.h"
#include "store/packing.h"

namespace bobbin::store {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint32_t kSkippableMagic = 0x184D2A50 + 11;  // RFC 8878: 0x184D2A50 to 5F
constexpr std::uint32_t kSumsMagic = kSkippableMagic + 1;
constexpr std::uint32_t kHeadMagic = 0x424F4231;  // ours, and its layout
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

// Of the frame with the sums, which files of the first format do not have.
std::optional<std::size_t> find_sums(std::string_view bytes) {
    if (bytes.size() < kSegmentHeadBytes + kFrameHeaderBytes) return std::nullopt;
    ByteReader reader(std::as_bytes(std::span(bytes.substr(kSegmentHeadBytes))));
    if (reader.u32() != kSumsMagic) return std::nullopt;
    const std::uint32_t size = reader.u32();
    if (size > kMaxPackedSumsBytes) return std::nullopt;
    return size;
}

// Without them a segment is as good as one with them, and slower to draw.
std::string encode_sums(const symbolize::NamedProfile& profile) {
    const auto packed = encode_cpu_sums(sum_cpu(profile));
    if (!packed || packed->size() > kMaxPackedSumsBytes) return {};
    std::string frame;
    append<std::uint32_t>(frame, kSumsMagic);
    append<std::uint32_t>(frame, static_cast<std::uint32_t>(packed->size()));
    return frame.append(*packed);
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
    BOBBIN_TRY(const std::string packed, pack(text, kCompressionLevel));
    return bytes.append(encode_sums(profile)).append(packed);
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

std::size_t front_bytes_of(std::string_view bytes) {
    const auto size = find_sums(bytes);
    return kSegmentHeadBytes + (size ? kFrameHeaderBytes + *size : 0);
}

std::string_view packed_sums_of(std::string_view bytes) {
    const std::size_t end = front_bytes_of(bytes);
    if (end == kSegmentHeadBytes || end > bytes.size()) return {};
    return bytes.substr(0, end).substr(kSegmentHeadBytes + kFrameHeaderBytes);
}

Result<symbolize::NamedProfile> decode_segment(std::string_view bytes) {
    BOBBIN_TRY(const SegmentFacts facts, decode_segment_head(bytes));
    const std::string_view packed = bytes.substr(std::min(front_bytes_of(bytes), bytes.size()));
    BOBBIN_TRY(const std::string text, unpack(packed, kMaxSegmentBytes));
    BOBBIN_TRY(symbolize::NamedProfile profile, profile::read_pprof(text));
    restore_spans(facts.time_bucket, profile);
    return profile;
}

}  // namespace bobbin::store
