// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// Of more samples than this each one written stands for several, and the file says for how many:
// its readers count packets. Ten minutes of 64 busy CPUs at 99 Hz have 3.8 million.
inline constexpr std::uint64_t kMaxPerfettoSamples = 4'000'000;

// The profile as a trace of Perfetto: a PerfSample for each sample, at its time, on its process's
// and thread's track; each line of a location is a frame. What there is to say besides stands as
// events at the start, on a track named bobbin. Format: proto/perfetto_trace.proto.
Result<std::string> encode_perfetto(const symbolize::NamedProfile& profile,
                                    std::uint64_t max_samples = kMaxPerfettoSamples);

}  // namespace bobbin::profile
