// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling_arguments.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/exit_status.h"
#include "cli/terminal_text.h"
#include "config/parse_frequency.h"
#include "config/parse_size.h"

namespace bobbin::cli {
namespace {

using config::RecordConfig;
using Checked = tl::expected<void, UserError>;

tl::unexpected<UserError> refuse(const Verb& verb, std::string what, std::string why) {
    return tl::unexpected(usage_error(&verb, std::move(what), std::move(why)));
}

Checked read_frequency(const Verb& verb, const SplitArguments& arguments,
                       const Surroundings& surroundings, RecordConfig& config) {
    const std::optional<std::uint32_t> limit_hz = surroundings.max_sample_rate_hz;
    if (const std::string* text = arguments.last("frequency")) {
        const Result<std::uint32_t> frequency = config::parse_frequency(*text, limit_hz);
        if (!frequency) {
            return refuse(verb, fmt::format("-F {}: not a frequency", shell_quote(*text)),
                          frequency.error().message());
        }
        config.frequency_hz = *frequency;
    }
    if (!limit_hz || config.frequency_hz <= *limit_hz) return {};
    // The kernel lowers this limit by itself when sampling has taken too long.
    return tl::unexpected(UserError{
        fmt::format("{} Hz is more than this kernel allows", config.frequency_hz),
        fmt::format("kernel.perf_event_max_sample_rate is {}; take -F {} or raise it", *limit_hz,
                    *limit_hz),
        fmt::format("sudo sysctl kernel.perf_event_max_sample_rate={}", config.frequency_hz),
        kExitUsage});
}

Checked read_size(const Verb& verb, const SplitArguments& arguments, std::string_view flag,
                  std::uint64_t smallest, std::uint64_t& bytes) {
    const std::string* text = arguments.last(flag);
    if (text == nullptr) return {};
    const Result<std::uint64_t> size = config::parse_size(*text);
    if (!size) {
        return refuse(verb, fmt::format("--{} {}: not a size", flag, shell_quote(*text)),
                      size.error().message());
    }
    if (*size < smallest) {
        return refuse(verb, fmt::format("--{} {}: too little", flag, shell_quote(*text)),
                      fmt::format("bobbin needs at least {}M", smallest >> 20));
    }
    bytes = *size;
    return {};
}

Checked read_budgets(const Verb& verb, const SplitArguments& arguments, RecordConfig& config) {
    Checked read =
        read_size(verb, arguments, "max-unwind-memory", RecordConfig::kMinMaxUnwindMemoryBytes,
                  config.max_unwind_memory_bytes);
    if (!read) return read;
    return read_size(verb, arguments, "max-memory", RecordConfig::kMinMaxMemoryBytes,
                     config.max_memory_bytes);
}

Checked read_scope(const Verb& verb, const SplitArguments& arguments, RecordConfig& config) {
    if (arguments.has("user-only") && arguments.has("kernel-only")) {
        return refuse(verb, "-U and -K exclude each other", "without them both kinds are recorded");
    }
    if (arguments.has("user-only")) config.scope = config::FrameScope::kUserOnly;
    if (arguments.has("kernel-only")) config.scope = config::FrameScope::kKernelOnly;
    return {};
}

}  // namespace

tl::expected<void, UserError> read_sampling(const Verb& verb, const SplitArguments& arguments,
                                            const Surroundings& surroundings,
                                            config::RecordConfig& config) {
    Checked read = read_frequency(verb, arguments, surroundings, config);
    if (read) read = read_budgets(verb, arguments, config);
    if (read) read = read_scope(verb, arguments, config);
    return read;
}

}  // namespace bobbin::cli
