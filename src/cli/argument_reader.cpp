// SPDX-License-Identifier: Apache-2.0
#include "cli/argument_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "cli/exit_status.h"
#include "cli/terminal_text.h"
#include "config/parse_duration.h"
#include "config/parse_frequency.h"

namespace bobbin::cli {

std::string ArgumentReader::text(std::string_view flag, std::string otherwise) const {
    const std::string* const given = arguments_.last(flag);
    if (given != nullptr) otherwise = *given;
    return otherwise;
}

void ArgumentReader::expect_no_words() {
    if (arguments_.rest.empty()) return;
    refuse(fmt::format("{} takes no arguments", verb_.name),
           "it was given " + shell_quote(arguments_.rest.front()));
}

std::string ArgumentReader::path(std::string_view otherwise) {
    if (arguments_.rest.empty()) {
        refuse(fmt::format("{} needs a file", verb_.name), std::string(otherwise));
        return {};
    }
    if (arguments_.rest.size() > 1) {
        refuse(fmt::format("{} takes one file", verb_.name),
               "it was also given " + shell_quote(arguments_.rest[1]));
    }
    return arguments_.rest.front();
}

std::optional<std::chrono::nanoseconds> ArgumentReader::duration(std::string_view flag) {
    return value(flag, "a duration", config::parse_duration,
                 "; durations are like 10, 500ms, 1m30s, 2h");
}

std::optional<std::uint32_t> ArgumentReader::frequency(
    std::optional<std::uint32_t> kernel_limit_hz) {
    return value("frequency", "a frequency", [&](const std::string& text) {
        return config::parse_frequency(text, kernel_limit_hz);
    });
}

std::optional<std::size_t> ArgumentReader::top() {
    return value("top", "a number", [](const std::string& text) -> Result<std::size_t> {
        const auto number = parse_number<std::size_t>(text);
        if (!number) return fail("0 shows all");
        return *number;
    });
}

std::vector<output::OutputFile> ArgumentReader::outputs(std::span<const std::string> paths,
                                                        const std::string& run) {
    std::vector<output::OutputFile> files;
    for (const std::string& path : paths) {
        if (!mistake_) add_output(path, run, files);
    }
    return files;
}

void ArgumentReader::add_output(const std::string& path, const std::string& run,
                                std::vector<output::OutputFile>& files) {
    const std::string quoted = shell_quote(path);
    if (std::ranges::find(files, path, &output::OutputFile::path) != files.end()) {
        return refuse(quoted + " is to be written twice",
                      "the second profile would replace the first");
    }
    Result<output::OutputFile> file = output::OutputFile::prepare(path);
    if (file) {
        files.push_back(std::move(*file));
        return;
    }
    const std::string what = "cannot write " + quoted;
    // A system call's errno is the directory's fault, anything else the name's.
    if (!file.error().code()) return refuse(what, file.error().message());
    refuse(UserError{what, file.error().message(), run.empty() ? "ls -ld " + quoted + " ." : run,
                     kExitFailure});
}

void ArgumentReader::exclude(std::string_view flag, std::string_view other, std::string why) {
    if (!has(flag) || !has(other)) return;
    refuse(fmt::format("{} and {} exclude each other", spelling(flag), spelling(other)),
           std::move(why));
}

void ArgumentReader::refuse(UserError mistake) {
    if (!mistake_) mistake_ = std::move(mistake);
}

void ArgumentReader::refuse(std::string what, std::string why) {
    refuse(usage_error(&verb_, std::move(what), std::move(why)));
}

void ArgumentReader::refuse_value(std::string_view flag, std::string_view text,
                                  std::string_view problem, std::string why) {
    refuse(fmt::format("{} {}: {}", spelling(flag), shell_quote(text), problem), std::move(why));
}

// "it takes a, b or c"
void ArgumentReader::refuse_choice(std::string_view flag, std::string_view text,
                                   std::span<const std::string_view> names) {
    const std::string last = fmt::format(" or {}", names.back());
    refuse_value(
        flag, text, "there is no such choice",
        fmt::format("it takes {}{}", fmt::join(names.first(names.size() - 1), ", "), last));
}

// Short where it can be: "-d", "--max-memory".
std::string ArgumentReader::spelling(std::string_view flag) const {
    const auto known = std::ranges::find(verb_.flags, flag, &Flag::long_name);
    const bool is_short = known != verb_.flags.end() && !known->short_name.empty();
    return is_short ? fmt::format("-{}", known->short_name) : fmt::format("--{}", flag);
}

}  // namespace bobbin::cli
