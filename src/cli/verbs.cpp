// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "config/nearest_name.h"

namespace bobbin::cli {
namespace {

constexpr std::size_t kHelpColumn = 32;
constexpr std::size_t kHelpWidth = 100;

// "  -F, --frequency HZ        text", the text broken at blanks and indented.
std::string describe_flag(const Flag& flag) {
    std::string line =
        flag.short_name.empty() ? std::string("      ") : fmt::format("  -{}, ", flag.short_name);
    line += fmt::format("--{}", flag.long_name);
    if (!flag.value_name.empty()) line += fmt::format(" {}", flag.value_name);
    line = fmt::format("{:<{}}", line, kHelpColumn);
    std::string_view text = flag.text;
    while (kHelpColumn + text.size() > kHelpWidth) {
        const std::size_t blank = text.rfind(' ', kHelpWidth - kHelpColumn);
        if (blank == std::string_view::npos) break;
        line += fmt::format("{}\n{:<{}}", text.substr(0, blank), "", kHelpColumn);
        text.remove_prefix(blank + 1);
    }
    return line + fmt::format("{}\n", text);
}

std::string describe_flags(std::span<const Flag> flags) {
    std::string text = "Options:\n";
    for (const Flag& flag : flags) text += describe_flag(flag);
    return text;
}

}  // namespace

std::string help_text() {
    std::string text =
        "bobbin: a CPU profiler that sees every process of a machine, without frame pointers\n\n"
        "Usage: bobbin VERB [ARG]...\n\nVerbs:\n";
    for (const Verb& verb : all_verbs())
        text += fmt::format("  {:<13} {}\n", verb.name, verb.summary);
    text += fmt::format("  {:<13} {}\n\n", "help VERB", "how a verb is used");
    text += describe_flags(program_flags());
    return text + "\nTo begin:  sudo bobbin record -d 10\n";
}

std::string help_text(const Verb& verb) {
    return fmt::format("Usage: bobbin {} {}\n\n{}\n\n", verb.name, verb.arguments, verb.text) +
           describe_flags(verb.flags);
}

std::optional<std::string> nearest_verb(std::string_view typed) {
    std::vector<std::string_view> names{"help"};
    for (const Verb& verb : all_verbs()) names.push_back(verb.name);
    return config::nearest_name(names, typed);
}

std::optional<std::string> nearest_flag(std::span<const Flag> flags, std::string_view typed) {
    if (!typed.starts_with("--")) return std::nullopt;
    typed = typed.substr(2, typed.find('=') - std::min(typed.find('='), std::size_t{2}));
    std::vector<std::string_view> names;
    for (const Flag& flag : flags) names.push_back(flag.long_name);
    const std::optional<std::string> name = config::nearest_name(names, typed);
    return name ? std::optional("--" + *name) : std::nullopt;
}

}  // namespace bobbin::cli
