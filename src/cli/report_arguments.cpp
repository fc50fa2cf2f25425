// SPDX-License-Identifier: Apache-2.0
#include "cli/report_arguments.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

constexpr std::string_view kLabelPrefix = "label:";

struct ByName {
    std::string_view name;
    report::By by;
};
constexpr std::array kByNames{
    ByName{"function", report::By::kFunction},   ByName{"line", report::By::kLine},
    ByName{"file", report::By::kFile},           ByName{"module", report::By::kModule},
    ByName{"process", report::By::kProcess},     ByName{"thread", report::By::kThread},
    ByName{"unit", report::By::kUnit},           ByName{"cpu", report::By::kCpu},
    ByName{"container", report::By::kContainer},
};

// Reads one verb's words; the first mistake is kept.
class ArgumentReader {
public:
    ArgumentReader(const Verb& verb, const SplitArguments& arguments)
        : verb_(verb), arguments_(arguments) {}

    std::string path() {
        if (arguments_.rest.empty()) {
            refuse(fmt::format("{} needs a file", verb_.name), "- reads standard input");
            return {};
        }
        if (arguments_.rest.size() > 1) {
            refuse(fmt::format("{} takes one file", verb_.name),
                   "it was also given " + shell_quote(arguments_.rest[1]));
        }
        return arguments_.rest.front();
    }

    report::Grouping grouping() {
        const std::string* const text = arguments_.last("by");
        if (text == nullptr) return {};
        for (const ByName& known : kByNames) {
            if (known.name == *text) return {.by = known.by, .label_key = {}};
        }
        if (text->starts_with(kLabelPrefix) && text->size() > kLabelPrefix.size()) {
            return {.by = report::By::kLabel, .label_key = text->substr(kLabelPrefix.size())};
        }
        std::string names;
        for (const ByName& known : kByNames) names += fmt::format("{}, ", known.name);
        refuse(fmt::format("cannot report by {}", shell_quote(*text)),
               fmt::format("--by takes {}label:KEY", names));
        return {};
    }

    std::optional<std::size_t> top() {
        const std::string* const text = arguments_.last("top");
        if (text == nullptr) return std::nullopt;
        std::size_t number = 0;
        const char* const text_end = text->data() + text->size();
        const auto [end, problem] = std::from_chars(text->data(), text_end, number);
        if (problem != std::errc{} || end != text_end) {
            refuse(fmt::format("--top takes a number, not {}", shell_quote(*text)), "0 shows all");
        }
        return number;
    }

    report::Sort sort() {
        const std::string* const text = arguments_.last("sort");
        if (text == nullptr || *text == "self") return report::Sort::kSelf;
        if (*text != "total") {
            refuse(fmt::format("cannot sort by {}", shell_quote(*text)),
                   "--sort takes self or total");
        }
        return report::Sort::kTotal;
    }

    std::optional<report::Pattern> pattern(std::string_view flag) {
        const std::string* const text = arguments_.last(flag);
        if (text == nullptr) return std::nullopt;
        auto compiled = report::Pattern::compile(*text);
        if (compiled) return std::move(*compiled);
        refuse(fmt::format("--{} takes a regular expression, not {}", flag, shell_quote(*text)),
               compiled.error().message());
        return std::nullopt;
    }

    void exclude(std::string_view flag, std::string_view other) {
        if (!arguments_.has(flag) || !arguments_.has(other)) return;
        refuse(fmt::format("--{} and --{} exclude each other", flag, other), {});
    }

    void refuse(std::string what, std::string why) {
        if (!mistake_) mistake_ = usage_error(&verb_, std::move(what), std::move(why));
    }
    std::optional<UserError>& mistake() { return mistake_; }

private:
    const Verb& verb_;
    const SplitArguments& arguments_;
    std::optional<UserError> mistake_;
};

ReportCommand::Style style_of(const SplitArguments& arguments) {
    if (arguments.has("json")) return ReportCommand::Style::kJson;
    if (arguments.has("md")) return ReportCommand::Style::kMarkdown;
    return ReportCommand::Style::kText;
}

}  // namespace

tl::expected<ReportCommand, UserError> read_report_arguments(const Verb& verb,
                                                             const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    ReportCommand command;
    command.path = reader.path();
    command.grouping = reader.grouping();
    command.top = reader.top();
    command.sort = reader.sort();
    command.filter.focus = reader.pattern("focus");
    command.filter.ignore = reader.pattern("ignore");
    command.filter.hide = reader.pattern("hide");
    command.filter.show_from = reader.pattern("show-from");
    command.peek = reader.pattern("peek");
    command.tree = arguments.has("tree");
    command.style = style_of(arguments);
    if (const std::string* const name = arguments.last("sample-type")) command.sample_type = *name;
    reader.exclude("json", "md");
    reader.exclude("tree", "peek");
    const bool needs_frames = command.tree || command.peek;
    if (needs_frames && !report::groups_frames(command.grouping.by)) {
        reader.refuse(fmt::format("--{} shows callers and callees", command.tree ? "tree" : "peek"),
                      "that is by function, line, file or module");
    }
    if (reader.mistake()) return tl::unexpected(std::move(*reader.mistake()));
    return command;
}

tl::expected<ExplainCommand, UserError> read_explain_arguments(const Verb& verb,
                                                               const SplitArguments& arguments) {
    ArgumentReader reader(verb, arguments);
    ExplainCommand command{.path = reader.path(), .json = arguments.has("json")};
    if (reader.mistake()) return tl::unexpected(std::move(*reader.mistake()));
    return command;
}

}  // namespace bobbin::cli
