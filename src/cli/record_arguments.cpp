// SPDX-License-Identifier: Apache-2.0
#include "cli/record_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "cli/target_arguments.h"
#include "cli/terminal_text.h"
#include "config/parse_duration.h"
#include "config/parse_frequency.h"
#include "config/parse_size.h"

namespace bobbin::cli {
namespace {

using config::RecordConfig;
using Checked = tl::expected<void, UserError>;

constexpr std::array<std::string_view, 2> kDefaultOutputs{"profile.pb.gz", "profile.html"};

tl::unexpected<UserError> refuse(std::string what, std::string why) {
    return tl::unexpected(usage_error(find_verb("record"), std::move(what), std::move(why)));
}

Checked read_frequency(const SplitArguments& arguments, const Surroundings& surroundings,
                       RecordConfig& config) {
    const std::optional<std::uint32_t> limit_hz = surroundings.max_sample_rate_hz;
    if (const std::string* text = arguments.last("frequency")) {
        const Result<std::uint32_t> frequency = config::parse_frequency(*text, limit_hz);
        if (!frequency) {
            return refuse(fmt::format("-F {}: not a frequency", shell_quote(*text)),
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

Checked read_duration(const SplitArguments& arguments, RecordConfig& config) {
    const std::string* text = arguments.last("duration");
    if (text == nullptr) return {};
    const Result<std::chrono::nanoseconds> duration = config::parse_duration(*text);
    if (!duration) {
        return refuse(fmt::format("-d {}: not a duration", shell_quote(*text)),
                      duration.error().message() + "; durations are like 10, 500ms, 1m30s, 2h");
    }
    config.duration = *duration;
    return {};
}

Checked read_size(const SplitArguments& arguments, std::string_view flag, std::uint64_t smallest,
                  std::uint64_t& bytes) {
    const std::string* text = arguments.last(flag);
    if (text == nullptr) return {};
    const Result<std::uint64_t> size = config::parse_size(*text);
    if (!size) {
        return refuse(fmt::format("--{} {}: not a size", flag, shell_quote(*text)),
                      size.error().message());
    }
    if (*size < smallest) {
        return refuse(fmt::format("--{} {}: too little", flag, shell_quote(*text)),
                      fmt::format("bobbin needs at least {}M", smallest >> 20));
    }
    bytes = *size;
    return {};
}

Checked read_budgets(const SplitArguments& arguments, RecordConfig& config) {
    Checked read = read_size(arguments, "max-unwind-memory", RecordConfig::kMinMaxUnwindMemoryBytes,
                             config.max_unwind_memory_bytes);
    if (!read) return read;
    return read_size(arguments, "max-memory", RecordConfig::kMinMaxMemoryBytes,
                     config.max_memory_bytes);
}

Checked read_what(const SplitArguments& arguments, const Surroundings& surroundings,
                  RecordConfig& config) {
    if (Checked read = read_targets(arguments, surroundings, config); !read) return read;
    if (arguments.has_separator && arguments.rest.empty()) {
        return refuse("there is no command after --", "leave -- out to record the whole machine");
    }
    if (arguments.has("user-only") && arguments.has("kernel-only")) {
        return refuse("-U and -K exclude each other", "without them both kinds are recorded");
    }
    if (arguments.has("user-only")) config.scope = config::FrameScope::kUserOnly;
    if (arguments.has("kernel-only")) config.scope = config::FrameScope::kKernelOnly;
    config.command = arguments.rest;
    config.whole_machine =
        arguments.has("all") || (!config.has_targets() && config.command.empty());
    return {};
}

Checked add_output(const std::string& path, RecordConfig& config) {
    const bool is_repeated = std::ranges::any_of(
        config.outputs, [&](const output::OutputFile& file) { return file.path() == path; });
    if (is_repeated) {
        return refuse(fmt::format("{} is to be written twice", shell_quote(path)),
                      "the second profile would replace the first");
    }
    Result<output::OutputFile> file = output::OutputFile::prepare(path);
    if (file) {
        config.outputs.push_back(std::move(*file));
        return {};
    }
    const std::string what = fmt::format("cannot write {}", shell_quote(path));
    // A system call's errno is the directory's fault, anything else the name's.
    if (!file.error().code()) return refuse(what, file.error().message());
    return tl::unexpected(UserError{what, file.error().message(),
                                    "bobbin record -o /tmp/" + std::string(kDefaultOutputs[0]),
                                    kExitFailure});
}

Checked read_outputs(const SplitArguments& arguments, RecordConfig& config) {
    for (const std::string& path : arguments.all("output")) {
        if (Checked added = add_output(path, config); !added) return added;
    }
    if (!config.outputs.empty()) return {};
    for (const std::string_view path : kDefaultOutputs) {
        if (Checked added = add_output(std::string(path), config); !added) return added;
    }
    return {};
}

}  // namespace

tl::expected<RecordConfig, UserError> read_record_arguments(const SplitArguments& arguments,
                                                            const Surroundings& surroundings) {
    RecordConfig config;
    config.quiet = arguments.has("quiet");
    Checked read = read_frequency(arguments, surroundings, config);
    if (read) read = read_duration(arguments, config);
    if (read) read = read_budgets(arguments, config);
    if (read) read = read_what(arguments, surroundings, config);
    if (read && surroundings.rights_missing) return tl::unexpected(*surroundings.rights_missing);
    if (read) read = read_outputs(arguments, config);
    if (!read) return tl::unexpected(std::move(read).error());
    return config;
}

}  // namespace bobbin::cli
