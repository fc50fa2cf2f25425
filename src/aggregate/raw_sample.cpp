// SPDX-License-Identifier: Apache-2.0
#include "aggregate/raw_sample.h"

namespace bobbin::aggregate {

std::optional<RawSample> parse_sample(std::span<const std::byte> record) {
    if (record.size() < sizeof(abi::sample_header)) return std::nullopt;
    const auto* header = reinterpret_cast<const abi::sample_header*>(record.data());
    if (header->walk_end >= abi::WALK_END_COUNT) return std::nullopt;
    const std::size_t kernel = header->kernel_frame_count;
    const std::size_t user = header->user_frame_count;
    const std::size_t frames_bytes = record.size() - sizeof(*header);
    if ((kernel + user) * sizeof(abi::frame_word) > frames_bytes) return std::nullopt;
    const auto* frames = reinterpret_cast<const abi::frame_word*>(header + 1);
    const std::size_t paused_at = sizeof(*header) + (kernel + user) * sizeof(abi::frame_word);
    const bool paused = (header->flags & abi::SAMPLE_HAS_PAUSED_WALK) != 0;
    return RawSample{
        .header = header,
        .kernel_frames = {frames, kernel},
        .user_frames = {frames + kernel, user},
        .paused_walk = paused ? record.subspan(paused_at) : record.subspan(record.size())};
}

}  // namespace bobbin::aggregate
