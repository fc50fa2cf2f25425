// SPDX-License-Identifier: Apache-2.0
#include "profile/read_perf_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "aggregate/sample_times.h"
#include "base/base_name.h"
#include "profile/perf_script_lines.h"
#include "profile/stack_collector.h"
#include "profile/text_lines.h"

namespace bobbin::profile {
namespace {

bool is_clock(std::string_view event) { return event == "cpu-clock" || event == "task-clock"; }

class PerfScriptReader {
public:
    explicit PerfScriptReader(std::string_view event) : event_(event) {}

    Result<symbolize::NamedProfile> read(std::string_view text) {
        TextLines lines(text);
        while (const auto line = lines.next()) {
            if (!take(*line)) {
                return fail("line {}: expected {}, and found {}", lines.number(),
                            in_stack_ ? "a frame, \"7f00cafe symbol+0x1f (file)\", or an empty line"
                                      : "a sample of perf script, \"comm pid/tid time: event:\"",
                            trim(*line).substr(0, kMaxQuoted));
            }
        }
        finish_sample();
        if (!event_.empty() && samples_.empty()) {
            return fail("no samples are of the event {}; there are:{}", event_, other_events());
        }
        return finish();
    }

private:
    struct Sample {
        std::uint32_t stack = 0;
        std::chrono::nanoseconds time{};
    };

    bool take(std::string_view line) {
        const std::string_view text = trim(line);
        if (text.empty()) {
            finish_sample();
            return true;
        }
        if (text.starts_with('#')) return true;  // what --header prints
        // Names of threads stand at the margin where there are call graphs.
        const bool is_indented = kBlanks.find(line.front()) != std::string_view::npos;
        if (in_stack_ && is_indented) return add_frame(text);
        finish_sample();
        return begin_sample(line);
    }

    bool begin_sample(std::string_view line) {
        const auto head = parse_perf_script_head(line);
        if (!head) return false;
        head_ = *head;
        in_stack_ = true;
        if (parse_perf_script_frame(head->rest)) {
            add_frame(head->rest);
            finish_sample();
        }
        return true;
    }

    bool add_frame(std::string_view text) {
        const auto frame = parse_perf_script_frame(text);
        if (!frame) return false;
        lines_.push_back({collector_.function(name_of(*frame)), 0});
        if (!frame->is_inlined) end_location(*frame);
        return true;
    }

    void end_location(const PerfScriptFrame& frame) {
        symbolize::Location location{.address = frame.address};
        location.is_named = frame.symbol != "[unknown]";
        location.is_kernel =
            frame.address >= symbolize::kFirstKernelAddress || frame.file.starts_with("[kernel");
        const bool is_known = frame.file != "[unknown]";
        location.mapping = collector_.mapping(is_known ? frame.file : std::string_view());
        location.lines = std::exchange(lines_, {});
        locations_.push_back(collector_.location(location));
    }

    static std::string name_of(const PerfScriptFrame& frame) {
        if (frame.symbol != "[unknown]" || frame.file.empty() || frame.file == "[unknown]") {
            return std::string(frame.symbol);
        }
        return fmt::format("{}+{:#x}", base_name(frame.file), frame.address);
    }

    void finish_sample() {
        if (!std::exchange(in_stack_, false)) return;
        if (!lines_.empty()) end_location({});  // inlined into what perf could not name
        const std::vector<std::uint32_t> locations = std::exchange(locations_, {});
        if (event_.empty()) event_ = head_.event;
        if (head_.event != event_) {
            ++others_[std::string(head_.event)];
            return;
        }
        symbolize::SampleLabels labels;
        labels.pid = head_.pid;
        labels.tid = head_.tid;
        labels.cpu = head_.cpu;
        labels.comm = head_.comm;
        labels.thread = head_.comm;
        const std::uint32_t index = collector_.stack(locations, labels);
        symbolize::NamedStack& stack = collector_.at(index);
        stack.count += 1;
        stack.value += head_.period.value_or(1);
        has_periods_ = has_periods_ || head_.period.has_value();
        first_period_ = samples_.empty() ? head_.period.value_or(0) : first_period_;
        samples_.push_back({index, head_.time});
    }

    [[nodiscard]] std::string other_events() const {
        std::string names;
        for (const auto& [name, count] : others_) names.append(" ").append(name);
        return names;
    }

    symbolize::NamedProfile finish() {
        set_times();
        symbolize::NamedProfile profile = collector_.take();
        profile.time_bucket = bucket_;
        profile.duration = length_;
        if (is_clock(event_) && has_periods_) {
            profile.period = std::chrono::nanoseconds{
                static_cast<std::int64_t>(std::min<std::uint64_t>(first_period_, INT64_MAX))};
        } else {
            profile.value_type = has_periods_ ? symbolize::ValueType{std::string(event_), "count"}
                                              : profile.count_type;
        }
        for (const auto& [name, count] : others_) {
            profile.comments.push_back(
                fmt::format("{} samples of the event {} are left out", count, name));
        }
        return profile;
    }

    // Spans as a recording has them (aggregate::TimeSpans).
    void set_times() {
        if (samples_.empty()) return;
        const auto [first, last] = std::ranges::minmax(samples_, {}, &Sample::time);
        length_ = last.time - first.time;
        bucket_ = aggregate::TimeSpans::kShortest;
        while (length_ >= bucket_ * aggregate::TimeSpans::kMaxBuckets) bucket_ *= 2;
        for (const Sample& sample : samples_) {
            const auto bucket = (sample.time - first.time) / bucket_;
            aggregate::add_time(collector_.at(sample.stack).times,
                                static_cast<std::uint32_t>(bucket));
        }
    }

    StackCollector collector_;
    std::string_view event_;
    std::map<std::string, std::uint64_t> others_;  // samples of other events
    std::vector<Sample> samples_;
    std::chrono::nanoseconds bucket_{};
    std::chrono::nanoseconds length_{};
    std::uint64_t first_period_ = 0;
    bool has_periods_ = false;
    // The sample that is being read.
    bool in_stack_ = false;
    PerfScriptHead head_;
    std::vector<symbolize::Line> lines_;  // inlined so far
    std::vector<std::uint32_t> locations_;
};

}  // namespace

Result<symbolize::NamedProfile> read_perf_script(std::string_view text, std::string_view event) {
    return PerfScriptReader(event).read(text);
}

bool is_perf_script(std::string_view text) {
    TextLines lines(text);
    while (const auto line = lines.next()) {
        const std::string_view trimmed = trim(*line);
        if (trimmed.empty() || trimmed.starts_with('#')) continue;
        return parse_perf_script_head(*line).has_value();
    }
    return false;
}

}  // namespace bobbin::profile
