// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/query.h"
#include "cli/report_text.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

std::string time_text(store::Time time, const char* format) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm fields{};
    ::localtime_r(&seconds, &fields);
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), format, &fields)};
}

std::int64_t since_epoch_ns(store::Time time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

std::string local_time_text(store::Time time) { return time_text(time, "%Y-%m-%d %H:%M:%S"); }

std::string range_text(const store::Range& range) {
    const bool is_one_day = time_text(range.begin, "%F") == time_text(range.end, "%F");
    return local_time_text(range.begin) + ".." +
           (is_one_day ? time_text(range.end, "%T") : local_time_text(range.end));
}

std::string list_text(const std::vector<store::Segment>& segments) {
    std::string text = fmt::format("{:<19} {:>8} {:>9} {:>9} {:>9}  file\n", "begin", "length",
                                   "samples", "CPU time", "size");
    std::uint64_t samples = 0;
    std::uint64_t bytes = 0;
    for (const store::Segment& segment : segments) {
        text += fmt::format("{:<19} {:>8} {:>9} {:>9} {:>9}  {}\n", local_time_text(segment.begin),
                            short_duration(segment.duration), thousands(segment.sample_count),
                            value_text(segment.cpu_ns, "nanoseconds"),
                            byte_size(segment.size_bytes), segment.file);
        samples += segment.sample_count;
        bytes += segment.size_bytes;
    }
    return text + fmt::format("{} segments, {} samples, {}\n", thousands(segments.size()),
                              thousands(samples), byte_size(bytes));
}

std::string list_json(const std::vector<store::Segment>& segments) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const store::Segment& segment : segments) {
        list.push_back({{"file", segment.file},
                        {"begin_ns", since_epoch_ns(segment.begin)},
                        {"duration_ns", segment.duration.count()},
                        {"samples", segment.sample_count},
                        {"cpu_ns", segment.cpu_ns},
                        {"size_bytes", segment.size_bytes}});
    }
    return nlohmann::ordered_json{{"segments", list}}.dump(2) + "\n";
}

}  // namespace bobbin::cli
