// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling_arguments.h"

#include <fmt/core.h>

#include <cstdint>
#include <string_view>

#include "cli/exit_status.h"
#include "config/parse_size.h"

namespace bobbin::cli {
namespace {

using config::NameStyle;
using config::RecordConfig;

void read_frequency(ArgumentReader& reader, const Surroundings& surroundings,
                    RecordConfig& config) {
    const std::optional<std::uint32_t> limit_hz = surroundings.max_sample_rate_hz;
    config.frequency_hz = reader.frequency(limit_hz).value_or(config.frequency_hz);
    if (!limit_hz || config.frequency_hz <= *limit_hz) return;
    // The kernel lowers this limit by itself when sampling has taken too long.
    reader.refuse(UserError{
        fmt::format("{} Hz is more than this kernel allows", config.frequency_hz),
        fmt::format("kernel.perf_event_max_sample_rate is {}; take -F {} or raise it", *limit_hz,
                    *limit_hz),
        fmt::format("sudo sysctl kernel.perf_event_max_sample_rate={}", config.frequency_hz),
        kExitUsage});
}

void read_size(ArgumentReader& reader, std::string_view flag, std::uint64_t smallest,
               std::uint64_t& bytes) {
    bytes = reader.value(flag, "a size", config::parse_size).value_or(bytes);
    if (bytes >= smallest) return;
    reader.refuse_value(flag, reader.text(flag), "too little",
                        fmt::format("bobbin needs at least {}M", smallest >> 20));
}

}  // namespace

void read_sampling(ArgumentReader& reader, const Surroundings& surroundings,
                   config::RecordConfig& config) {
    read_frequency(reader, surroundings, config);
    read_size(reader, "max-unwind-memory", RecordConfig::kMinMaxUnwindMemoryBytes,
              config.max_unwind_memory_bytes);
    read_size(reader, "max-memory", RecordConfig::kMinMaxMemoryBytes, config.max_memory_bytes);
    config.name_style = reader
                            .choice<NameStyle>("demangle", {{"none", NameStyle::kMangled},
                                                            {"simplified", NameStyle::kSimplified},
                                                            {"full", NameStyle::kFull}})
                            .value_or(config.name_style);
    reader.exclude("user-only", "kernel-only", "without them both kinds are recorded");
    if (reader.has("user-only")) config.scope = config::FrameScope::kUserOnly;
    if (reader.has("kernel-only")) config.scope = config::FrameScope::kKernelOnly;
}

}  // namespace bobbin::cli
