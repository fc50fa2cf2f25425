// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "store/store.h"

namespace bobbin::store {
namespace {

using std::chrono::seconds;
using std::chrono::system_clock;

constexpr const char* kExamples =
    "times are like -1h, -7d, 10:30, 2026-11-22, \"2026-11-22 10:30\", now";
// A hundred years of seconds: what is larger is a mistake, and would not fit into Time.
constexpr std::int64_t kMostSeconds = 100LL * 366 * 86'400;

std::optional<std::int64_t> parse_number(std::string_view& text) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

std::optional<std::int64_t> seconds_of(char unit) {
    switch (unit) {
        case 's':
            return 1;
        case 'm':
            return 60;
        case 'h':
            return 3'600;
        case 'd':
            return 86'400;
        case 'w':
            return 7 * 86'400;
        default:
            return std::nullopt;
    }
}

// "1h30m"; a unit has to stand behind each number.
std::optional<seconds> parse_length(std::string_view text) {
    std::int64_t sum = 0;
    do {
        const auto number = parse_number(text);
        const auto unit = text.empty() ? std::nullopt : seconds_of(text.front());
        if (!number || !unit || *number > kMostSeconds / *unit) return std::nullopt;
        sum += *number * *unit;
        if (sum > kMostSeconds) return std::nullopt;
        text.remove_prefix(1);
    } while (!text.empty());
    return seconds{sum};
}

// What a calendar and a clock on the wall say.
struct WallTime {
    std::tm fields{};
    bool has_date = false;
    bool is_utc = false;
};

bool is_possible(const std::tm& fields) {
    const auto is_within = [](int number, int least, int most) {
        return number >= least && number <= most;
    };
    return is_within(fields.tm_mon, 0, 11) && is_within(fields.tm_mday, 1, 31) &&
           is_within(fields.tm_hour, 0, 23) && is_within(fields.tm_min, 0, 59) &&
           is_within(fields.tm_sec, 0, 59);
}

// Reads "10:30" or "10:30:15" from `text` on; gives how much that is, 0: nothing of the kind.
std::size_t read_clock(const char* text, std::tm& fields) {
    int end = 0;
    // NOLINTNEXTLINE(cert-err34-c): checked by what comes out
    if (std::sscanf(text, "%2d:%2d%n", &fields.tm_hour, &fields.tm_min, &end) != 2) return 0;
    int with_seconds = 0;
    // NOLINTNEXTLINE(cert-err34-c): checked by what comes out
    if (std::sscanf(text + end, ":%2d%n", &fields.tm_sec, &with_seconds) == 1) end += with_seconds;
    return static_cast<std::size_t>(end);
}

std::optional<WallTime> parse_wall_time(const std::string& text) {
    if (text.find_first_not_of("0123456789-: TZ") != std::string::npos) return std::nullopt;
    WallTime wall;
    wall.fields.tm_mday = 1;
    std::size_t at = 0;
    int date_end = 0;
    // NOLINTNEXTLINE(cert-err34-c): checked by what comes out
    if (std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &wall.fields.tm_year, &wall.fields.tm_mon,
                    &wall.fields.tm_mday, &date_end) == 3) {
        wall.has_date = true;
        wall.fields.tm_year -= 1900;
        wall.fields.tm_mon -= 1;
        at = static_cast<std::size_t>(date_end);
        if (at < text.size() && (text[at] == ' ' || text[at] == 'T')) ++at;
    }
    if (at < text.size()) {
        const std::size_t clock = read_clock(text.c_str() + at, wall.fields);
        if (clock == 0) return std::nullopt;
        at += clock;
    }
    wall.is_utc = wall.has_date && text.substr(at) == "Z";
    const bool is_all = at == text.size() || wall.is_utc;
    if (text.empty() || !is_all || !is_possible(wall.fields)) return std::nullopt;
    return wall;
}

// Of this machine's place; a month or day that does not exist is the next one's.
Time local_time(std::tm fields) {
    fields.tm_isdst = -1;
    return system_clock::from_time_t(std::mktime(&fields));
}

std::tm local_fields(Time time) {
    const std::time_t seconds_since_epoch = system_clock::to_time_t(time);
    std::tm fields{};
    ::localtime_r(&seconds_since_epoch, &fields);
    return fields;
}

// The moment of that clock on the day of `day`, and so many days later.
Time on_day_of(Time day, const WallTime& wall, int days_later) {
    std::tm fields = local_fields(day);
    fields.tm_hour = wall.fields.tm_hour;
    fields.tm_min = wall.fields.tm_min;
    fields.tm_sec = wall.fields.tm_sec;
    fields.tm_mday += days_later;
    return local_time(fields);
}

// Of a time without a date: the last one up to `now`.
Time resolve(const WallTime& wall, Time now) {
    if (wall.is_utc) {
        std::tm fields = wall.fields;
        return system_clock::from_time_t(::timegm(&fields));
    }
    if (wall.has_date) return local_time(wall.fields);
    const Time today = on_day_of(now, wall, 0);
    return today <= now ? today : on_day_of(now, wall, -1);
}

// The end of a range: of a time without a date the first one behind its begin.
Result<Time> parse_end(std::string_view text, Time begin, Time now) {
    if (text.empty()) return now;
    const auto wall = parse_wall_time(std::string(text));
    if (!wall || wall->has_date) return parse_time(text, now);
    const Time same_day = on_day_of(begin, *wall, 0);
    return same_day > begin ? same_day : on_day_of(begin, *wall, 1);
}

}  // namespace

Result<Time> parse_time(std::string_view text, Time now) {
    if (text == "now") return now;
    if (text.starts_with('-')) {
        if (const auto length = parse_length(text.substr(1))) return now - *length;
    } else if (text.starts_with('@')) {
        std::string_view rest = text.substr(1);
        const auto number = parse_number(rest);
        if (number && rest.empty() && *number <= 2 * kMostSeconds) return Time{seconds{*number}};
    } else if (const auto wall = parse_wall_time(std::string(text))) {
        return resolve(*wall, now);
    }
    return fail("{} is no time: {}", text.empty() ? "nothing" : text, kExamples);
}

Result<Range> parse_range(std::string_view text, Time now) {
    const std::size_t dots = text.find("..");
    BOBBIN_TRY(const Time begin, parse_time(text.substr(0, dots), now));
    const std::string_view end_text =
        dots == std::string_view::npos ? std::string_view() : text.substr(dots + 2);
    BOBBIN_TRY(const Time end, parse_end(end_text, begin, now));
    if (begin >= end) return fail("{} ends before it begins", text);
    return Range{begin, end};
}

}  // namespace bobbin::store
