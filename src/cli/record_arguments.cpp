// SPDX-License-Identifier: Apache-2.0
#include "cli/record_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "bobbin/bpf_abi.h"
#include "cli/terminal_text.h"
#include "config/parse_duration.h"
#include "config/parse_frequency.h"

namespace bobbin::cli {
namespace {

using config::RecordConfig;
using Checked = tl::expected<void, UserError>;

constexpr std::string_view kDefaultOutput = "profile.pb.gz";

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

Checked add_pid(std::string_view text, const Surroundings& surroundings, RecordConfig& config) {
    constexpr pid_t kMaxPid = 4'194'304;  // PID_MAX_LIMIT of <linux/threads.h>
    pid_t pid = 0;
    const char* const text_end = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), text_end, pid);
    if (problem != std::errc{} || end != text_end || pid < 1 || pid > kMaxPid) {
        return refuse(fmt::format("-p {}: not a process id", shell_quote(text)),
                      "it takes one number, or several with commas: -p 4242,4243");
    }
    const std::optional<pid_t> process = surroundings.process_of(pid);
    if (!process) {
        return tl::unexpected(UserError{fmt::format("there is no process {}", pid),
                                        "-p takes processes that run now; this one may have ended",
                                        "ps -e -o pid,user,args", kExitUsage});
    }
    if (*process != pid) {
        return tl::unexpected(
            UserError{fmt::format("{} is a thread of process {}", pid, *process),
                      "-p takes whole processes; single threads cannot be asked for",
                      fmt::format("bobbin record -p {}", *process), kExitUsage});
    }
    config.pids.push_back(pid);
    return {};
}

// "42,43"
Checked add_pids(std::string_view list, const Surroundings& surroundings, RecordConfig& config) {
    while (true) {
        const std::size_t comma = list.find(',');
        Checked added = add_pid(list.substr(0, comma), surroundings, config);
        if (!added || comma == std::string_view::npos) return added;
        list.remove_prefix(comma + 1);
    }
}

Checked read_pids(const SplitArguments& arguments, const Surroundings& surroundings,
                  RecordConfig& config) {
    for (const std::string_view list : arguments.all("pid")) {
        if (Checked added = add_pids(list, surroundings, config); !added) return added;
    }
    std::ranges::sort(config.pids);
    const auto repeated = std::ranges::unique(config.pids);
    config.pids.erase(repeated.begin(), repeated.end());
    if (config.pids.size() > abi::MAX_TARGET_PROCESSES) {
        return refuse(fmt::format("{} processes are too many", thousands(config.pids.size())),
                      fmt::format("-p takes at most {}",
                                  thousands(std::uint64_t{abi::MAX_TARGET_PROCESSES})));
    }
    return {};
}

Checked read_target(const SplitArguments& arguments, const Surroundings& surroundings,
                    RecordConfig& config) {
    if (Checked read = read_pids(arguments, surroundings, config); !read) return read;
    if (arguments.has_separator && arguments.rest.empty()) {
        return refuse("there is no command after --", "leave -- out to record the whole machine");
    }
    if (arguments.has("pid") && !arguments.rest.empty()) {
        return refuse("-p and a command exclude each other",
                      "both say what to record; -a COMMAND records the whole machine meanwhile");
    }
    if (arguments.has("user-only") && arguments.has("kernel-only")) {
        return refuse("-U and -K exclude each other", "without them both kinds are recorded");
    }
    if (arguments.has("user-only")) config.scope = config::FrameScope::kUserOnly;
    if (arguments.has("kernel-only")) config.scope = config::FrameScope::kKernelOnly;
    config.command = arguments.rest;
    // Targets are OR-ed, so the whole machine contains any other.
    config.whole_machine = arguments.has("all") || (config.pids.empty() && config.command.empty());
    if (config.whole_machine) config.pids.clear();
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
                                    "bobbin record -o /tmp/" + std::string(kDefaultOutput),
                                    kExitFailure});
}

Checked read_outputs(const SplitArguments& arguments, RecordConfig& config) {
    for (const std::string& path : arguments.all("output")) {
        if (Checked added = add_output(path, config); !added) return added;
    }
    if (!config.outputs.empty()) return {};
    return add_output(std::string(kDefaultOutput), config);
}

}  // namespace

tl::expected<RecordConfig, UserError> read_record_arguments(const SplitArguments& arguments,
                                                            const Surroundings& surroundings) {
    RecordConfig config;
    config.quiet = arguments.has("quiet");
    Checked read = read_frequency(arguments, surroundings, config);
    if (read) read = read_duration(arguments, config);
    if (read) read = read_target(arguments, surroundings, config);
    if (read && surroundings.rights_missing) return tl::unexpected(*surroundings.rights_missing);
    if (read) read = read_outputs(arguments, config);
    if (!read) return tl::unexpected(std::move(read).error());
    return config;
}

}  // namespace bobbin::cli
