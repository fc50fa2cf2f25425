// SPDX-License-Identifier: Apache-2.0
#include "cli/record_arguments.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/argument_reader.h"
#include "cli/exit_status.h"
#include "cli/sampling_arguments.h"
#include "cli/target_arguments.h"

namespace bobbin::cli {
namespace {

using config::RecordConfig;

void read_debuginfod(ArgumentReader& reader, const Surroundings& surroundings,
                     RecordConfig& config) {
    if (!reader.has("debuginfod")) return;
    config.debuginfod_urls = surroundings.debuginfod_urls;
    if (!config.debuginfod_urls.empty()) return;
    reader.refuse(
        UserError{"--debuginfod: no server is known",
                  "DEBUGINFOD_URLS is not set (sudo drops it) and no *.urls is in /etc/debuginfod",
                  "sudo DEBUGINFOD_URLS=https://debuginfod.elfutils.org bobbin record --debuginfod",
                  kExitUsage});
}

void read_what(ArgumentReader& reader, const Surroundings& surroundings, RecordConfig& config) {
    read_targets(reader, surroundings, config);
    config.command = reader.arguments().rest;
    if (reader.arguments().has_separator && config.command.empty()) {
        reader.refuse("there is no command after --", "leave -- out to record the whole machine");
    }
    config.whole_machine = reader.has("all") || (!config.has_targets() && config.command.empty());
}

}  // namespace

tl::expected<RecordConfig, UserError> read_record_arguments(const Verb& verb,
                                                            const SplitArguments& arguments,
                                                            const Surroundings& surroundings) {
    static const std::array<std::string, 2> kDefaultOutputs{"profile.pb.gz", "profile.html"};
    ArgumentReader reader(verb, arguments);
    RecordConfig config;
    config.quiet = arguments.has("quiet");
    config.summary_as_json = arguments.has("json");
    read_sampling(reader, surroundings, config);
    config.duration = reader.duration("duration");
    read_debuginfod(reader, surroundings, config);
    read_what(reader, surroundings, config);
    if (surroundings.rights_missing) reader.refuse(*surroundings.rights_missing);
    std::span<const std::string> paths = arguments.all("output");
    if (paths.empty()) paths = kDefaultOutputs;
    config.outputs = reader.outputs(paths, "bobbin record -o /tmp/" + kDefaultOutputs[0]);
    if (config.summary_as_json && std::ranges::find(paths, "-") != paths.end()) {
        reader.refuse("--json and -o -: both go to standard output", "write the profile to a file");
    }
    return reader.give(std::move(config));
}

}  // namespace bobbin::cli
