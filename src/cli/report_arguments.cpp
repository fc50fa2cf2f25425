// SPDX-License-Identifier: Apache-2.0
#include "cli/report_arguments.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>

#include "cli/argument_reader.h"

namespace bobbin::cli {
namespace {

report::Grouping read_grouping(ArgumentReader& reader) {
    using report::By;
    constexpr std::string_view kLabelPrefix = "label:";
    const std::string text = reader.text("by");
    if (text.starts_with(kLabelPrefix) && text.size() > kLabelPrefix.size()) {
        return {.by = By::kLabel, .label_key = text.substr(kLabelPrefix.size())};
    }
    const auto by = reader.choice<By>("by",
                                      {{"function", By::kFunction},
                                       {"line", By::kLine},
                                       {"file", By::kFile},
                                       {"module", By::kModule},
                                       {"process", By::kProcess},
                                       {"thread", By::kThread},
                                       {"unit", By::kUnit},
                                       {"cpu", By::kCpu},
                                       {"container", By::kContainer}},
                                      "label:KEY");
    return {.by = by.value_or(By::kFunction), .label_key = {}};
}

std::optional<report::Pattern> read_pattern(ArgumentReader& reader, std::string_view flag) {
    return reader.value(flag, "a regular expression", report::Pattern::compile);
}

ReportCommand::Style style_of(const SplitArguments& arguments) {
    if (arguments.has("json")) return ReportCommand::Style::kJson;
    if (arguments.has("md")) return ReportCommand::Style::kMarkdown;
    return ReportCommand::Style::kText;
}

}  // namespace

tl::expected<ReportCommand, UserError> read_report_arguments(const Verb& verb,
                                                             const SplitArguments& arguments) {
    using report::Sort;
    ArgumentReader reader(verb, arguments);
    ReportCommand command;
    command.path = reader.path();
    command.grouping = read_grouping(reader);
    command.top = reader.top();
    command.sort = reader.choice<Sort>("sort", {{"self", Sort::kSelf}, {"total", Sort::kTotal}})
                       .value_or(command.sort);
    command.filter.focus = read_pattern(reader, "focus");
    command.filter.ignore = read_pattern(reader, "ignore");
    command.filter.hide = read_pattern(reader, "hide");
    command.filter.show_from = read_pattern(reader, "show-from");
    command.peek = read_pattern(reader, "peek");
    command.tree = arguments.has("tree");
    command.style = style_of(arguments);
    command.sample_type = reader.text("sample-type");
    reader.exclude("json", "md");
    reader.exclude("tree", "peek");
    const bool needs_frames = command.tree || command.peek;
    if (needs_frames && !report::groups_frames(command.grouping.by)) {
        reader.refuse(fmt::format("--{} shows callers and callees", command.tree ? "tree" : "peek"),
                      "that is by function, line, file or module");
    }
    return reader.give(std::move(command));
}

tl::expected<ExplainCommand, UserError> read_explain_arguments(const Verb& verb,
                                                               const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    return reader.give(ExplainCommand{.path = reader.path(), .json = arguments.has("json")});
}

}  // namespace bobbin::cli
