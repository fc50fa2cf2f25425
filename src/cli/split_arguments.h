// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "cli/errors.h"
#include "cli/verbs.h"

namespace bobbin::cli {

// The words behind a verb, sorted into flags and the rest.
struct SplitArguments {
    std::map<std::string, std::vector<std::string>, std::less<>> values;  // by long name
    std::vector<std::string> rest;  // the command, or what the verb works on
    bool has_separator = false;     // `--` was given

    [[nodiscard]] bool has(std::string_view long_name) const { return values.contains(long_name); }
    [[nodiscard]] std::span<const std::string> all(std::string_view long_name) const {
        const auto found = values.find(long_name);
        if (found == values.end()) return {};
        return found->second;
    }
    // Of a flag given many times the last one counts.
    [[nodiscard]] const std::string* last(std::string_view long_name) const {
        const std::span<const std::string> given = all(long_name);
        return given.empty() ? nullptr : &given.back();
    }
};

// The only place that knows CLI11. Values stay text; a flag that `verb` does not have is an error
// with the nearest known name.
tl::expected<SplitArguments, UserError> split_arguments(const Verb& verb,
                                                        std::span<const std::string> arguments);

// A usage error of `verb` (nullptr: of the program): exit status 2, its help to paste.
UserError usage_error(const Verb* verb, std::string what, std::string why);

}  // namespace bobbin::cli
