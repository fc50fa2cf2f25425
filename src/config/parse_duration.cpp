// SPDX-License-Identifier: Apache-2.0
#include "config/parse_duration.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace bobbin::config {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongest = std::chrono::hours(24 * 365);

struct Unit {
    std::string_view name;
    milliseconds length;
};
// Large to small, which is also the order they may be written in.
constexpr std::array<Unit, 5> kUnits{{{"d", std::chrono::hours(24)},
                                      {"h", std::chrono::hours(1)},
                                      {"m", std::chrono::minutes(1)},
                                      {"s", std::chrono::seconds(1)},
                                      {"ms", milliseconds(1)}}};

// Takes the leading number off `text`.
Result<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem == std::errc::result_out_of_range) return fail("longer than a year");
    if (problem != std::errc{}) return fail("not a duration");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// Takes the leading unit off `text` and gives its index; no unit at all is seconds.
Result<std::size_t> take_unit(std::string_view& text) {
    const std::string_view name = text.substr(0, text.find_first_of("0123456789"));
    for (std::size_t i = 0; i < kUnits.size(); ++i) {
        if (name != kUnits.at(i).name) continue;
        text.remove_prefix(name.size());
        return i;
    }
    return fail("'{}' is not a unit of time", name);
}

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    if (text.find_first_not_of("0123456789") == std::string_view::npos && !text.empty()) {
        BOBBIN_TRY(const std::uint64_t seconds, take_number(text));
        if (seconds == 0) return fail("nothing can be recorded in no time");
        if (seconds > static_cast<std::uint64_t>(kLongest / std::chrono::seconds(1))) {
            return fail("longer than a year");
        }
        return std::chrono::seconds(seconds);
    }
    milliseconds total{};
    std::size_t first_allowed_unit = 0;
    do {
        BOBBIN_TRY(const std::uint64_t number, take_number(text));
        BOBBIN_TRY(const std::size_t unit, take_unit(text));
        if (unit < first_allowed_unit) return fail("units must go from large to small");
        first_allowed_unit = unit + 1;
        const milliseconds length = kUnits.at(unit).length;
        if (number > static_cast<std::uint64_t>((kLongest - total) / length)) {
            return fail("longer than a year");
        }
        total += length * static_cast<milliseconds::rep>(number);
    } while (!text.empty());
    if (total == milliseconds::zero()) return fail("nothing can be recorded in no time");
    return total;
}

}  // namespace bobbin::config
