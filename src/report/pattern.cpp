// SPDX-License-Identifier: Apache-2.0
#include "report/pattern.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace bobbin::report {
namespace {

// The product of all upper bounds in {m,n}: glibc copies what is repeated, and what is repeated in
// that.
std::size_t count_repetitions(std::string_view text) {
    std::size_t product = 1;
    for (std::size_t at = text.find('{'); at != std::string_view::npos;
         at = text.find('{', at + 1)) {
        const std::string_view bounds = text.substr(at + 1, text.find('}', at) - at - 1);
        const std::string_view last = bounds.substr(bounds.find_last_of(',') + 1);
        const std::string_view only = last.empty() ? bounds : last;
        std::size_t bound = 1;
        std::from_chars(only.data(), only.data() + only.size(), bound);
        product *= std::clamp<std::size_t>(bound, 1, Pattern::kMaxRepetitions + 1);
        if (product > Pattern::kMaxRepetitions) break;
    }
    return product;
}

Result<> check_escapes(std::string_view text) {
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] != '\\') continue;
        const char escaped = text[++i];
        if (escaped >= '1' && escaped <= '9') return fail("it refers back by \\{}", escaped);
        if (escaped == 'd' || escaped == 'D') {
            return fail("\\{} is not of POSIX: write [0-9] or [^0-9]", escaped);
        }
    }
    return {};
}

}  // namespace

Result<Pattern> Pattern::compile(const std::string& text) {
    if (text.size() > kMaxBytes) return fail("it has more than {} bytes", kMaxBytes);
    if (text.find('\0') != std::string::npos) return fail("it has a byte 0");
    if (text.find("(?") != std::string::npos) return fail("(? is not of POSIX");
    BOBBIN_CHECK(check_escapes(text));
    if (count_repetitions(text) > kMaxRepetitions) {
        return fail("it repeats more than {} times", kMaxRepetitions);
    }
    auto compiled = std::make_unique<regex_t>();
    if (const int code = ::regcomp(compiled.get(), text.c_str(), REG_EXTENDED | REG_NOSUB);
        code != 0) {
        std::array<char, 200> reason{};
        ::regerror(code, compiled.get(), reason.data(), reason.size());
        return fail("{}", reason.data());
    }
    return Pattern(std::unique_ptr<regex_t, Free>(compiled.release()));
}

bool Pattern::matches(std::string_view text) const {
    // REG_STARTEND: a text with its length, so that it may hold a byte 0 and need not end in one.
    regmatch_t range{};
    range.rm_eo = static_cast<regoff_t>(std::min(text.size(), kMaxTextBytes));
    const char* const begin = text.data() == nullptr ? "" : text.data();
    return ::regexec(compiled_.get(), begin, 1, &range, REG_STARTEND) == 0;
}

}  // namespace bobbin::report
