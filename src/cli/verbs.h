// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bobbin::cli {

// The verbs and their flags: the one list that the parser, the help, the nearest-name advice and
// (by a test) the man pages and completions agree with.

struct Flag {
    std::string_view short_name;  // one letter without its dash; may be empty
    std::string_view long_name;   // without its dashes
    std::string_view value_name;  // empty: a switch
    std::string_view text;
};

struct Verb {
    std::string_view name;
    std::string_view arguments;  // as the usage line shows them
    std::string_view summary;    // for the list of verbs
    std::string_view text;       // paragraphs below the usage line
    std::span<const Flag> flags;
    bool takes_command = false;  // the first word that is no flag, and all after it, is a command
};

std::span<const Verb> all_verbs();
std::span<const Flag> program_flags();  // those that stand before a verb
const Verb* find_verb(std::string_view name);

std::string help_text();
std::string help_text(const Verb& verb);

// The known name that was probably meant: at most a third of its letters typed wrong, left out,
// added or swapped.
std::optional<std::string> nearest_verb(std::string_view typed);
// `typed` with its dashes; so is the answer. Only long names are compared.
std::optional<std::string> nearest_flag(std::span<const Flag> flags, std::string_view typed);

}  // namespace bobbin::cli
