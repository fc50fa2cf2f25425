// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "cli/argument_reader.h"
#include "cli/diff.h"
#include "cli/query.h"
#include "cli/report_arguments.h"
#include "cli/terminal_text.h"
#include "config/daemon_config.h"

namespace bobbin::cli {
namespace {

void check_words(ArgumentReader& reader) {
    const std::vector<std::string>& words = reader.arguments().rest;
    if (!words.empty()) {
        reader.refuse(fmt::format("query takes no {}", shell_quote(words.front())),
                      "times stand behind --since and --until, what is looked for behind "
                      "--unit and --where");
    }
    for (const std::string_view flag : {"output", "diff-with", "by", "top"}) {
        reader.exclude("list", flag);
    }
    reader.exclude("diff-with", "by", "functions are compared");
}

store::Range read_range(ArgumentReader& reader, store::Time now) {
    const auto range =
        store::parse_range(reader.text("since", "-1h") + ".." + reader.text("until", "now"), now);
    if (range) return *range;
    reader.refuse("cannot tell from when to when", range.error().message());
    return {};
}

store::Where read_where(ArgumentReader& reader) {
    std::string conditions;
    for (const std::string& given : reader.arguments().all("where")) {
        conditions += (conditions.empty() ? "" : ", ") + given;
    }
    auto where = store::Where::parse(conditions);
    if (!where) {
        reader.refuse_value("where", conditions, "not understood", where.error().message());
        return {};
    }
    for (const std::string& unit : reader.arguments().all("unit")) where->add_unit(unit);
    return std::move(*where);
}

// What another verb, which works on files, makes of these words; ranges stand for its files.
template <class Command>
Command read_as(tl::expected<Command, UserError> (*read)(const Verb&, const SplitArguments&),
                ArgumentReader& reader, std::initializer_list<std::string_view> flags,
                std::vector<std::string> ranges) {
    SplitArguments words{.values = {}, .rest = std::move(ranges)};
    for (const std::string_view flag : flags) {
        const auto found = reader.arguments().values.find(flag);
        if (found != reader.arguments().values.end()) words.values.insert(*found);
    }
    auto command = read(reader.verb(), words);
    if (command) return std::move(*command);
    reader.refuse(std::move(command).error());
    return {};
}

}  // namespace

tl::expected<QueryCommand, UserError> read_query_arguments(const Verb& verb,
                                                           const SplitArguments& arguments) {
    const store::Time now = std::chrono::system_clock::now();
    ArgumentReader reader(verb, arguments);
    QueryCommand command;
    command.store_path = reader.text("store");
    command.config_path = reader.text("config", config::kDefaultConfigPath);
    command.list = arguments.has("list");
    check_words(reader);
    command.range = read_range(reader, now);
    command.where = read_where(reader);
    const std::string range = range_text(command.range);
    command.table = read_as(read_report_arguments, reader, {"by", "top", "json"}, {range});
    const auto base = reader.value(
        "diff-with", "a range",
        [&](const std::string& text) { return store::parse_range(text, now); },
        "; ranges like -25h..-24h");
    if (base) {
        command.comparison = {
            .base = *base,
            .diff = read_as(read_diff_arguments, reader, {"output", "top", "json"},
                            {range_text(*base), range})};
    }
    // Those of a comparison are its own.
    if (!base) command.outputs = reader.outputs(arguments.all("output"));
    return reader.give(std::move(command));
}

}  // namespace bobbin::cli
