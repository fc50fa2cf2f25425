// SPDX-License-Identifier: Apache-2.0
#include "cli/record_arguments.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "cli/output_arguments.h"
#include "cli/sampling_arguments.h"
#include "cli/target_arguments.h"
#include "cli/terminal_text.h"
#include "config/parse_duration.h"

namespace bobbin::cli {
namespace {

using config::RecordConfig;
using Checked = tl::expected<void, UserError>;

constexpr std::array<std::string_view, 2> kDefaultOutputs{"profile.pb.gz", "profile.html"};

tl::unexpected<UserError> refuse(std::string what, std::string why) {
    return tl::unexpected(usage_error(find_verb("record"), std::move(what), std::move(why)));
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

Checked read_names(const SplitArguments& arguments, const Surroundings& surroundings,
                   RecordConfig& config) {
    if (const std::string* text = arguments.last("demangle")) {
        if (*text == "none") {
            config.name_style = config::NameStyle::kMangled;
        } else if (*text == "full") {
            config.name_style = config::NameStyle::kFull;
        } else if (*text != "simplified") {
            return refuse(fmt::format("--demangle {}: there is no such style", shell_quote(*text)),
                          "there are none, simplified and full");
        }
    }
    if (!arguments.has("debuginfod")) return {};
    config.debuginfod_urls = surroundings.debuginfod_urls;
    if (!config.debuginfod_urls.empty()) return {};
    return tl::unexpected(
        UserError{"--debuginfod: no server is known",
                  "DEBUGINFOD_URLS is not set (sudo drops it) and no *.urls is in /etc/debuginfod",
                  "sudo DEBUGINFOD_URLS=https://debuginfod.elfutils.org bobbin record --debuginfod",
                  kExitUsage});
}

Checked read_what(const SplitArguments& arguments, const Surroundings& surroundings,
                  RecordConfig& config) {
    if (Checked read = read_targets(arguments, surroundings, config); !read) return read;
    if (arguments.has_separator && arguments.rest.empty()) {
        return refuse("there is no command after --", "leave -- out to record the whole machine");
    }
    config.command = arguments.rest;
    config.whole_machine =
        arguments.has("all") || (!config.has_targets() && config.command.empty());
    return {};
}

Checked add_record_output(const std::string& path, RecordConfig& config) {
    auto error =
        add_output(*find_verb("record"), path,
                   "bobbin record -o /tmp/" + std::string(kDefaultOutputs[0]), config.outputs);
    if (error) return tl::unexpected(std::move(*error));
    return {};
}

Checked read_outputs(const SplitArguments& arguments, RecordConfig& config) {
    for (const std::string& path : arguments.all("output")) {
        if (Checked added = add_record_output(path, config); !added) return added;
    }
    if (!config.outputs.empty()) return {};
    for (const std::string_view path : kDefaultOutputs) {
        if (Checked added = add_record_output(std::string(path), config); !added) return added;
    }
    return {};
}

}  // namespace

tl::expected<RecordConfig, UserError> read_record_arguments(const SplitArguments& arguments,
                                                            const Surroundings& surroundings) {
    RecordConfig config;
    config.quiet = arguments.has("quiet");
    Checked read = read_sampling(*find_verb("record"), arguments, surroundings, config);
    if (read) read = read_duration(arguments, config);
    if (read) read = read_names(arguments, surroundings, config);
    if (read) read = read_what(arguments, surroundings, config);
    if (read && surroundings.rights_missing) return tl::unexpected(*surroundings.rights_missing);
    if (read) read = read_outputs(arguments, config);
    if (!read) return tl::unexpected(std::move(read).error());
    return config;
}

}  // namespace bobbin::cli
