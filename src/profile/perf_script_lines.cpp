// SPDX-License-Identifier: Apache-2.0
#include "profile/perf_script_lines.h"

#include <algorithm>
#include <cstddef>

#include "base/parse_number.h"
#include "profile/text_lines.h"

namespace bobbin::profile {
namespace {

constexpr std::size_t kFractionDigits = 9;            // of a second
constexpr std::uint64_t kMaxSeconds = 4'000'000'000;  // a clock's; the year 2096
// Between a thread's number and the time stand at most the cpu and the flags of latency.
constexpr int kMaxWordsBeforeTime = 2;

// The word that begins at or behind `at`, moved behind it.
std::string_view take_word(std::string_view text, std::size_t& at) {
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks, at), text.size());
    at = std::min(text.find_first_of(kBlanks, begin), text.size());
    return text.substr(begin, at - begin);
}
// The word that ends before `end`, which is moved to its beginning.
std::string_view take_word_before(std::string_view text, std::size_t& end) {
    const std::size_t last =
        end == 0 ? std::string_view::npos : text.find_last_not_of(kBlanks, end - 1);
    if (last == std::string_view::npos) {
        end = 0;
        return {};
    }
    const std::size_t blank = text.find_last_of(kBlanks, last);
    end = blank == std::string_view::npos ? 0 : blank + 1;
    return text.substr(end, last + 1 - end);
}

// "50672.832260:"
std::optional<std::chrono::nanoseconds> parse_time(std::string_view word) {
    const std::size_t point = word.find('.');
    if (!word.ends_with(':') || point == std::string_view::npos) return std::nullopt;
    const auto seconds = parse_number<std::uint64_t>(word.substr(0, point));
    const std::string_view digits = word.substr(point + 1, word.size() - point - 2);
    const auto fraction = parse_number<std::uint64_t>(digits);
    if (!seconds || !fraction || *seconds > kMaxSeconds || digits.size() > kFractionDigits) {
        return std::nullopt;
    }
    std::uint64_t nanoseconds = *fraction;
    for (std::size_t i = digits.size(); i < kFractionDigits; ++i) nanoseconds *= 10;
    return std::chrono::seconds{*seconds} + std::chrono::nanoseconds{nanoseconds};
}

// "12/34" or "34"
bool parse_thread(std::string_view word, PerfScriptHead& head) {
    const std::size_t slash = word.find('/');
    const auto pid = parse_number<std::uint32_t>(word.substr(0, slash));
    const auto tid =
        slash == std::string_view::npos ? pid : parse_number<std::uint32_t>(word.substr(slash + 1));
    if (!pid || !tid) return false;
    head.pid = *pid;
    head.tid = *tid;
    return true;
}

// What stands before the time; a name may hold blanks, numbers and brackets.
bool parse_before_time(std::string_view text, PerfScriptHead& head) {
    std::size_t end = text.size();
    for (int i = 0; i <= kMaxWordsBeforeTime; ++i) {
        const std::string_view word = take_word_before(text, end);
        if (parse_thread(word, head)) {
            head.comm = trim(text.substr(0, end));
            return !head.comm.empty();
        }
        if (word.starts_with('[') && word.ends_with(']')) {
            head.cpu =
                parse_number<std::uint32_t>(word.substr(1, word.size() - 2)).value_or(head.cpu);
        }
    }
    return false;
}

// "cycles:ppp:" -> "cycles", "sched:sched_switch:" as it is. Letters: perf-list(1).
std::string_view without_modifiers(std::string_view event) {
    event.remove_suffix(1);
    const std::size_t colon = event.rfind(':');
    if (colon == std::string_view::npos || colon + 1 == event.size()) return event;
    const bool only_letters =
        event.find_first_not_of("ukhIGHpPSDWebR", colon + 1) == std::string_view::npos;
    return only_letters ? event.substr(0, colon) : event;
}

bool parse_behind_time(std::string_view text, PerfScriptHead& head) {
    std::size_t at = 0;
    std::string_view word = take_word(text, at);
    head.period = parse_number<std::uint64_t>(word);
    if (head.period) word = take_word(text, at);
    if (word.size() < 2 || !word.ends_with(':')) return false;
    head.event = without_modifiers(word);
    head.rest = trim(text.substr(at));
    return true;
}

// The file in brackets at the end of `text`, which is cut off: "(/a b (deleted))".
std::string_view take_file(std::string_view& text) {
    if (!text.ends_with(')')) return {};
    std::size_t depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
        if (text[i] == ')') ++depth;
        if (text[i] == '(' && --depth == 0) {
            // A symbol's own brackets follow it at once: "f(int)".
            if (i == 0 || kBlanks.find(text[i - 1]) == std::string_view::npos) return {};
            const std::string_view file = text.substr(i + 1, text.size() - i - 2);
            text = trim(text.substr(0, i));
            return file;
        }
    }
    return {};
}

std::string_view without_offset(std::string_view symbol) {
    const std::size_t plus = symbol.rfind("+0x");
    if (plus == std::string_view::npos || plus == 0) return symbol;
    const bool is_offset = parse_number<std::uint64_t>(symbol.substr(plus + 3), 16).has_value();
    return is_offset ? symbol.substr(0, plus) : symbol;
}

}  // namespace

std::optional<PerfScriptHead> parse_perf_script_head(std::string_view line) {
    // The first word that is a time and has a thread before it and an event behind it.
    for (std::size_t at = 0; at < line.size();) {
        const std::string_view word = take_word(line, at);
        const auto time = parse_time(word);
        if (!time) continue;
        PerfScriptHead head{.time = *time};
        if (parse_before_time(line.substr(0, at - word.size()), head) &&
            parse_behind_time(line.substr(at), head)) {
            return head;
        }
    }
    return std::nullopt;
}

std::optional<PerfScriptFrame> parse_perf_script_frame(std::string_view line) {
    std::size_t at = 0;
    const auto address = parse_number<std::uint64_t>(take_word(line, at), 16);
    std::string_view rest = trim(line.substr(at));
    if (!address || rest.empty()) return std::nullopt;
    PerfScriptFrame frame{.address = *address};
    frame.file = take_file(rest);
    frame.is_inlined = frame.file == "inlined";
    if (frame.is_inlined) frame.file = {};
    frame.symbol = without_offset(rest);
    if (frame.symbol.empty()) return std::nullopt;
    return frame;
}

}  // namespace bobbin::profile
