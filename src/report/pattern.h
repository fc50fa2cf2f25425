// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bobbin::report {

// A POSIX extended regular expression (regex(7)) of bytes, found anywhere in a text. What Perl adds
// ("(?", \d) is an error, and so is what could take for ever: references back, and repetitions
// that multiply to more than kMaxRepetitions.
class Pattern {
public:
    static constexpr std::size_t kMaxBytes = 1000;
    static constexpr std::size_t kMaxRepetitions = 1000;
    static constexpr std::size_t kMaxTextBytes = 4096;  // what lies behind is not looked at

    // The error says what is wrong with it, without its text.
    static Result<Pattern> compile(const std::string& text);

    [[nodiscard]] bool matches(std::string_view text) const;

private:
    struct Free {
        void operator()(regex_t* compiled) const {
            ::regfree(compiled);
            delete compiled;
        }
    };
    explicit Pattern(std::unique_ptr<regex_t, Free> compiled) : compiled_(std::move(compiled)) {}

    std::unique_ptr<regex_t, Free> compiled_;
};

}  // namespace bobbin::report
