// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "cli/argument_reader.h"
#include "cli/diff.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

// "5%", "0.5 %" or "5": hundredths.
Result<double> parse_share(std::string_view text) {
    if (text.ends_with('%')) text.remove_suffix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    double hundredths = 0;
    const char* const text_end = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), text_end, hundredths);
    const bool is_share = hundredths >= 0 && hundredths <= 1e6;  // no infinity, and a number
    if (problem != std::errc{} || end != text_end || !is_share) {
        return fail("shares are like 5% or 0.5%");
    }
    return hundredths / 100;
}

void read_files(ArgumentReader& reader, DiffCommand& command) {
    const std::vector<std::string>& paths = reader.arguments().rest;
    if (paths.size() != 2) {
        return reader.refuse("diff needs two profiles",
                             "the first is what the second is compared with");
    }
    command.base_path = paths[0];
    command.path = paths[1];
    if (command.base_path == "-" && command.path == "-") {
        reader.refuse("diff cannot read both profiles from standard input", {});
    }
    for (const std::string& path : reader.arguments().all("output")) {
        constexpr std::array kEndings{".html", ".json", ".md"};
        const bool is_known = std::ranges::any_of(
            kEndings, [&](const char* ending) { return path.ends_with(ending); });
        if (!is_known) {
            reader.refuse(fmt::format("cannot write a difference to {}", shell_quote(path)),
                          "-o takes files that end in .html, .json or .md");
        }
        command.outputs.push_back(path);
    }
}

void read_options(ArgumentReader& reader, report::DiffOptions& options) {
    using report::DiffOn;
    using report::Normalize;
    options.min_share =
        reader.value("min-share", "a share", parse_share).value_or(options.min_share);
    options.on = reader.choice<DiffOn>("on", {{"self", DiffOn::kSelf}, {"total", DiffOn::kTotal}})
                     .value_or(options.on);
    options.normalize = reader
                            .choice<Normalize>("normalize", {{"share", Normalize::kShare},
                                                             {"absolute", Normalize::kAbsolute}})
                            .value_or(options.normalize);
}

}  // namespace

tl::expected<DiffCommand, UserError> read_diff_arguments(const Verb& verb,
                                                         const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    DiffCommand command;
    read_files(reader, command);
    command.fail_above = reader.value("fail-above", "a share", parse_share);
    read_options(reader, command.options);
    command.top = reader.top().value_or(command.top);
    if (arguments.has("json")) command.style = DiffCommand::Style::kJson;
    if (arguments.has("md")) command.style = DiffCommand::Style::kMarkdown;
    reader.exclude("json", "md", "-o writes both: -o diff.json -o diff.md");
    return reader.give(std::move(command));
}

}  // namespace bobbin::cli
