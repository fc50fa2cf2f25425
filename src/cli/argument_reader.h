// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/errors.h"
#include "cli/split_arguments.h"
#include "cli/verbs.h"
#include "output/output_file.h"

namespace bobbin::cli {

// Reads the words of one verb, so that the same mistake is told in the same words by all of them.
// The first mistake is kept: what is read behind it counts for nothing, and give() gives it alone.
// Flags go by their long names.
class ArgumentReader {
public:
    ArgumentReader(const Verb& verb, const SplitArguments& arguments)
        : verb_(verb), arguments_(arguments) {}

    [[nodiscard]] const Verb& verb() const { return verb_; }
    [[nodiscard]] const SplitArguments& arguments() const { return arguments_; }
    [[nodiscard]] bool has(std::string_view flag) const { return arguments_.has(flag); }
    [[nodiscard]] std::string text(std::string_view flag, std::string otherwise = {}) const;

    // The verb works on nothing.
    void expect_no_words();
    // The one file that it works on.
    std::string path(std::string_view otherwise = "- reads standard input");

    // What `parse`, which gives a Result, makes of the last value of `flag`; nullopt: not given.
    // `hint` is added to its error.
    template <class Parse>
    auto value(std::string_view flag, std::string_view kind, const Parse& parse,
               std::string_view hint = {}) {
        using Parsed = decltype(parse(std::string()));
        const std::string* const text = arguments_.last(flag);
        if (text == nullptr) return std::optional<typename Parsed::value_type>();
        Parsed parsed = parse(*text);
        if (parsed) return std::optional(std::move(*parsed));
        refuse_value(flag, *text, "not " + std::string(kind),
                     parsed.error().message().append(hint));
        return std::optional<typename Parsed::value_type>();
    }
    std::optional<std::chrono::nanoseconds> duration(std::string_view flag);
    std::optional<std::uint32_t> frequency(std::optional<std::uint32_t> kernel_limit_hz);
    std::optional<std::size_t> top();

    template <class Value>
    using Choices = std::initializer_list<std::pair<std::string_view, Value>>;
    // What the value of `flag` names among `choices`. `beside`: what else it takes, for the error.
    template <class Value>
    std::optional<Value> choice(std::string_view flag, Choices<Value> choices,
                                std::string_view beside = {}) {
        const std::string* const text = arguments_.last(flag);
        if (text == nullptr) return std::nullopt;
        std::vector<std::string_view> names;
        for (const auto& [name, value] : choices) {
            if (name == *text) return value;
            names.push_back(name);
        }
        if (!beside.empty()) names.push_back(beside);
        refuse_choice(flag, *text, names);
        return std::nullopt;
    }

    // The profiles to be written to `paths`. Tries whether they can be, unless there is a mistake
    // already; `run` is to paste where a directory is at fault, in place of a look at it.
    std::vector<output::OutputFile> outputs(std::span<const std::string> paths,
                                            const std::string& run = {});

    void exclude(std::string_view flag, std::string_view other, std::string why = {});
    void refuse(UserError mistake);
    // Exit status 2, and the verb's help to paste.
    void refuse(std::string what, std::string why);
    // "-d ten: not a duration"
    void refuse_value(std::string_view flag, std::string_view text, std::string_view problem,
                      std::string why);

    // `command`, where there was no mistake.
    template <class Command>
    tl::expected<Command, UserError> give(Command command) {
        if (mistake_) return tl::unexpected(std::move(*mistake_));
        return command;
    }

private:
    void refuse_choice(std::string_view flag, std::string_view text,
                       std::span<const std::string_view> names);
    void add_output(const std::string& path, const std::string& run,
                    std::vector<output::OutputFile>& files);
    [[nodiscard]] std::string spelling(std::string_view flag) const;

    const Verb& verb_;
    const SplitArguments& arguments_;
    std::optional<UserError> mistake_;
};

}  // namespace bobbin::cli
