// SPDX-License-Identifier: Apache-2.0
#include "cli/convert_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

// Nothing, or why there cannot be such a file.
std::optional<UserError> add_output(const Verb& verb, const std::string& path,
                                    ConvertCommand& command) {
    const bool is_repeated = std::ranges::any_of(
        command.outputs, [&](const output::OutputFile& file) { return file.path() == path; });
    if (is_repeated) {
        return usage_error(&verb, fmt::format("{} is to be written twice", shell_quote(path)),
                           "the second profile would replace the first");
    }
    Result<output::OutputFile> file = output::OutputFile::prepare(path);
    if (file) {
        command.outputs.push_back(std::move(*file));
        return std::nullopt;
    }
    const std::string what = fmt::format("cannot write {}", shell_quote(path));
    // A system call's errno is the directory's fault, anything else the name's.
    if (!file.error().code()) return usage_error(&verb, what, file.error().message());
    return UserError{what, file.error().message(), "ls -ld " + shell_quote(path) + " .",
                     kExitFailure};
}

}  // namespace

tl::expected<ConvertCommand, UserError> read_convert_arguments(const Verb& verb,
                                                               const SplitArguments& arguments) {
    const auto refuse = [&](std::string what, std::string why) {
        return tl::unexpected(usage_error(&verb, std::move(what), std::move(why)));
    };
    if (arguments.rest.empty()) {
        return refuse("convert needs a file", "- reads standard input");
    }
    if (arguments.rest.size() > 1) {
        return refuse("convert takes one file",
                      fmt::format("what is to be written stands behind -o: -o {}",
                                  shell_quote(arguments.rest[1])));
    }
    ConvertCommand command{.path = arguments.rest.front()};
    if (const std::string* type = arguments.last("sample-type")) command.sample_type = *type;
    const std::span<const std::string> outputs = arguments.all("output");
    if (outputs.empty()) {
        return refuse("convert needs -o FILE", "the ending of FILE says what to convert to");
    }
    for (const std::string& path : outputs) {
        if (auto error = add_output(verb, path, command)) return tl::unexpected(*error);
    }
    return command;
}

}  // namespace bobbin::cli
