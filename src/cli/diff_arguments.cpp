// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/diff.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

// "5%", "0.5 %" or "5": hundredths.
std::optional<double> parse_share(std::string_view text) {
    if (text.ends_with('%')) text.remove_suffix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    double hundredths = 0;
    const char* const text_end = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), text_end, hundredths);
    const bool is_share = hundredths >= 0 && hundredths <= 1e6;  // no infinity, and a number
    if (problem != std::errc{} || end != text_end || !is_share) return std::nullopt;
    return hundredths / 100;
}

class DiffArguments {
public:
    DiffArguments(const Verb& verb, const SplitArguments& arguments)
        : verb_(verb), arguments_(arguments) {}

    tl::expected<DiffCommand, UserError> read() {
        DiffCommand command;
        read_files(command);
        command.fail_above = share("fail-above");
        command.options.min_share = share("min-share").value_or(command.options.min_share);
        if (choice("on", "self", "total") == 1) command.options.on = report::DiffOn::kTotal;
        if (choice("normalize", "share", "absolute") == 1) {
            command.options.normalize = report::Normalize::kAbsolute;
        }
        read_top(command);
        if (arguments_.has("json")) command.style = DiffCommand::Style::kJson;
        if (arguments_.has("md")) command.style = DiffCommand::Style::kMarkdown;
        if (arguments_.has("json") && arguments_.has("md")) {
            refuse("--json and --md exclude each other", "-o writes both: -o diff.json -o diff.md");
        }
        if (mistake_) return tl::unexpected(std::move(*mistake_));
        return command;
    }

private:
    void read_files(DiffCommand& command) {
        if (arguments_.rest.size() != 2) {
            return refuse("diff needs two profiles",
                          "the first is what the second is compared with");
        }
        command.base_path = arguments_.rest[0];
        command.path = arguments_.rest[1];
        if (command.base_path == "-" && command.path == "-") {
            refuse("diff cannot read both profiles from standard input", {});
        }
        for (const std::string& path : arguments_.all("output")) {
            constexpr std::array kEndings{".html", ".json", ".md"};
            const bool is_known = std::ranges::any_of(
                kEndings, [&](const char* ending) { return path.ends_with(ending); });
            if (!is_known) {
                refuse(fmt::format("cannot write a difference to {}", shell_quote(path)),
                       "-o takes files that end in .html, .json or .md");
            }
            command.outputs.push_back(path);
        }
    }

    std::optional<double> share(std::string_view flag) {
        const std::string* const text = arguments_.last(flag);
        if (text == nullptr) return std::nullopt;
        const std::optional<double> value = parse_share(*text);
        if (!value) {
            refuse(fmt::format("--{} takes a share, not {}", flag, shell_quote(*text)),
                   "shares are like 5% or 0.5%");
        }
        return value;
    }

    int choice(std::string_view flag, std::string_view first, std::string_view second) {
        const std::string* const text = arguments_.last(flag);
        if (text == nullptr || *text == first) return 0;
        if (*text != second) {
            refuse(
                fmt::format("--{} takes {} or {}, not {}", flag, first, second, shell_quote(*text)),
                {});
        }
        return 1;
    }

    void read_top(DiffCommand& command) {
        const std::string* const text = arguments_.last("top");
        if (text == nullptr) return;
        const char* const text_end = text->data() + text->size();
        const auto [end, problem] = std::from_chars(text->data(), text_end, command.top);
        if (problem != std::errc{} || end != text_end) {
            refuse(fmt::format("--top takes a number, not {}", shell_quote(*text)), "0 shows all");
        }
    }

    // The first mistake is kept.
    void refuse(std::string what, std::string why) {
        if (!mistake_) mistake_ = usage_error(&verb_, std::move(what), std::move(why));
    }

    const Verb& verb_;
    const SplitArguments& arguments_;
    std::optional<UserError> mistake_;
};

}  // namespace

tl::expected<DiffCommand, UserError> read_diff_arguments(const Verb& verb,
                                                         const SplitArguments& arguments) {
    return DiffArguments(verb, arguments).read();
}

}  // namespace bobbin::cli
