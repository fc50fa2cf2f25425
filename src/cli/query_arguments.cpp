// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/diff.h"
#include "cli/output_arguments.h"
#include "cli/query.h"
#include "cli/report_arguments.h"
#include "cli/terminal_text.h"
#include "config/daemon_config.h"

namespace bobbin::cli {
namespace {

using Checked = tl::expected<void, UserError>;

class QueryArguments {
public:
    QueryArguments(const Verb& verb, const SplitArguments& arguments)
        : verb_(verb), arguments_(arguments) {}

    tl::expected<QueryCommand, UserError> read() {
        QueryCommand command;
        command.store_path = text("store", "");
        command.config_path = text("config", config::kDefaultConfigPath);
        command.list = arguments_.has("list");
        for (const auto step : {&QueryArguments::check_words, &QueryArguments::read_range,
                                &QueryArguments::read_where, &QueryArguments::read_table,
                                &QueryArguments::read_comparison, &QueryArguments::read_outputs}) {
            if (auto done = (this->*step)(command); !done) return tl::unexpected(done.error());
        }
        return command;
    }

private:
    [[nodiscard]] std::string text(std::string_view flag, std::string_view otherwise) const {
        const std::string* const given = arguments_.last(flag);
        return given != nullptr ? *given : std::string(otherwise);
    }

    [[nodiscard]] tl::unexpected<UserError> refuse(std::string what, std::string why) const {
        return tl::unexpected(usage_error(&verb_, std::move(what), std::move(why)));
    }

    Checked check_words(QueryCommand& /*command*/) {
        if (!arguments_.rest.empty()) {
            return refuse(fmt::format("query takes no {}", shell_quote(arguments_.rest.front())),
                          "times stand behind --since and --until, what is looked for behind "
                          "--unit and --where");
        }
        for (const std::string_view flag : {"output", "diff-with", "by", "top"}) {
            if (!arguments_.has("list") || !arguments_.has(flag)) continue;
            return refuse(fmt::format("--list and --{} exclude each other", flag), {});
        }
        if (arguments_.has("diff-with") && arguments_.has("by")) {
            return refuse("--diff-with and --by exclude each other", "functions are compared");
        }
        return {};
    }

    Checked read_range(QueryCommand& command) {
        const std::string range = text("since", "-1h") + ".." + text("until", "now");
        auto parsed = store::parse_range(range, now_);
        if (!parsed) return refuse("cannot tell from when to when", parsed.error().message());
        command.range = *parsed;
        return {};
    }

    Checked read_where(QueryCommand& command) {
        std::string conditions;
        for (const std::string& given : arguments_.all("where")) {
            conditions += (conditions.empty() ? "" : ", ") + given;
        }
        auto where = store::Where::parse(conditions);
        if (!where) {
            return refuse(fmt::format("--where {}: not understood", shell_quote(conditions)),
                          where.error().message());
        }
        command.where = std::move(*where);
        for (const std::string& unit : arguments_.all("unit")) command.where.add_unit(unit);
        return {};
    }

    // --by, --top and --json are those of `bobbin report`.
    Checked read_table(QueryCommand& command) {
        auto table = read_report_arguments(
            verb_, of_ranges({"by", "top", "json"}, {range_text(command.range)}));
        if (!table) return tl::unexpected(table.error());
        command.table = std::move(*table);
        return {};
    }

    // -o, --top and --json are then those of `bobbin diff`.
    Checked read_comparison(QueryCommand& command) {
        const std::string* const given = arguments_.last("diff-with");
        if (given == nullptr) return {};
        const auto base = store::parse_range(*given, now_);
        if (!base) {
            return refuse(fmt::format("--diff-with {}: not a range", shell_quote(*given)),
                          base.error().message() + "; ranges like -25h..-24h");
        }
        auto diff = read_diff_arguments(
            verb_,
            of_ranges({"output", "top", "json"}, {range_text(*base), range_text(command.range)}));
        if (!diff) return tl::unexpected(diff.error());
        command.comparison = {.base = *base, .diff = std::move(*diff)};
        return {};
    }

    Checked read_outputs(QueryCommand& command) {
        if (command.comparison) return {};
        for (const std::string& path : arguments_.all("output")) {
            auto mistake =
                add_output(verb_, path, "ls -ld " + shell_quote(path) + " .", command.outputs);
            if (mistake) return tl::unexpected(std::move(*mistake));
        }
        return {};
    }

    // The words of another verb, which works on files, with ranges instead of them.
    [[nodiscard]] SplitArguments of_ranges(std::initializer_list<std::string_view> flags,
                                           std::vector<std::string> ranges) const {
        SplitArguments words{.values = {}, .rest = std::move(ranges)};
        for (const std::string_view flag : flags) {
            const auto found = arguments_.values.find(flag);
            if (found != arguments_.values.end()) words.values.insert(*found);
        }
        return words;
    }

    const Verb& verb_;
    const SplitArguments& arguments_;
    store::Time now_ = std::chrono::system_clock::now();
};

}  // namespace

tl::expected<QueryCommand, UserError> read_query_arguments(const Verb& verb,
                                                           const SplitArguments& arguments) {
    return QueryArguments(verb, arguments).read();
}

}  // namespace bobbin::cli
