// SPDX-License-Identifier: Apache-2.0
#include "cli/split_arguments.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "cli/exit_status.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

CLI::Option* add_flag(CLI::App& app, const Flag& flag) {
    std::string names = fmt::format("--{}", flag.long_name);
    if (!flag.short_name.empty()) names = fmt::format("-{},{}", flag.short_name, names);
    if (flag.value_name.empty()) return app.add_flag(names)->disable_flag_override();
    return app.add_option(names)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

UserError unknown_flag(const Verb& verb, const std::string& typed) {
    const std::optional<std::string> meant = nearest_flag(verb.flags, typed);
    std::string why = meant ? fmt::format("did you mean {}?", *meant)
                            : fmt::format("a command that begins with a dash needs -- before it");
    if (!meant && !verb.takes_command) why = fmt::format("{} has no such flag", verb.name);
    return usage_error(&verb, fmt::format("unknown flag {}", shell_quote(typed)), std::move(why));
}

UserError refused_arguments(const Verb& verb, const CLI::ParseError& problem,
                            std::span<const std::string> arguments) {
    const bool is_flag_left_alone =
        dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr && !arguments.empty() &&
        arguments.back().starts_with('-');
    if (!is_flag_left_alone) return usage_error(&verb, problem.what(), {});
    return usage_error(&verb, fmt::format("{} needs a value", shell_quote(arguments.back())), {});
}

// CLI11 puts unknown flags, the separator and plain words into one list, in the order they came.
// With prefix_command it goes on reading flags after one it does not know.
tl::expected<void, UserError> sort_rest(const Verb& verb, std::vector<std::string> remaining,
                                        SplitArguments& split) {
    for (auto word = remaining.begin(); word != remaining.end(); ++word) {
        if (*word == "--") {
            split.has_separator = true;
            split.rest.insert(split.rest.end(), word + 1, remaining.end());
            return {};
        }
        if (word->size() > 1 && word->front() == '-') {
            return tl::unexpected(unknown_flag(verb, *word));
        }
        if (verb.takes_command) {
            split.rest.assign(word, remaining.end());
            return {};
        }
        split.rest.push_back(*word);
    }
    return {};
}

}  // namespace

UserError usage_error(const Verb* verb, std::string what, std::string why) {
    std::string help = verb == nullptr ? std::string("bobbin --help")
                                       : fmt::format("bobbin {} --help", verb->name);
    return {std::move(what), std::move(why), std::move(help), kExitUsage};
}

tl::expected<SplitArguments, UserError> split_arguments(const Verb& verb,
                                                        std::span<const std::string> arguments) {
    CLI::App app;
    app.set_help_flag();  // ours is an ordinary flag
    app.allow_extras();
    app.prefix_command(verb.takes_command);
    std::vector<CLI::Option*> options;
    for (const Flag& flag : verb.flags) options.push_back(add_flag(app, flag));
    // CLI11 takes the words from the back.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
        app.parse(reversed);
    } catch (const CLI::ParseError& problem) {
        return tl::unexpected(refused_arguments(verb, problem, arguments));
    }
    SplitArguments split;
    for (std::size_t i = 0; i < options.size(); ++i) {
        if (options[i]->count() == 0) continue;
        split.values.emplace(verb.flags[i].long_name, options[i]->results());
    }
    if (auto sorted = sort_rest(verb, app.remaining(), split); !sorted) {
        return tl::unexpected(std::move(sorted).error());
    }
    return split;
}

}  // namespace bobbin::cli
