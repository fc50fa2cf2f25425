// SPDX-License-Identifier: Apache-2.0
#include "profile/speedscope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/function_frames.h"
#include "profile/thread_timelines.h"

namespace bobbin::profile {
namespace {

using nlohmann::json;

// FileFormat.ValueUnit of the schema; "none" for all others.
constexpr std::array<std::string_view, 5> kUnits = {"bytes", "microseconds", "milliseconds",
                                                    "nanoseconds", "seconds"};

std::string_view unit_of(const symbolize::ValueType& type) {
    return std::ranges::find(kUnits, type.unit) == kUnits.end() ? std::string_view("none")
                                                                : std::string_view(type.unit);
}

json frame_object(const symbolize::NamedProfile& profile, const FunctionFrame& frame) {
    const symbolize::Function& function = profile.functions[frame.function];
    json object{{"name", function.name}};
    // Its colors and groups go by the file: the module is better than none.
    const bool has_module = frame.mapping < profile.mappings.size();
    const std::string module = has_module ? profile.mappings[frame.mapping].file : std::string();
    const std::string& file = function.file.empty() ? module : function.file;
    if (!file.empty()) object["file"] = file;
    if (frame.line != 0) object["line"] = frame.line;
    return object;
}

std::vector<std::uint32_t> root_first(const symbolize::NamedProfile& profile,
                                      const FunctionFrames& frames,
                                      const symbolize::NamedStack& stack) {
    std::vector<std::uint32_t> indexes;
    for (const std::uint32_t location : std::views::reverse(stack.locations)) {
        for (std::size_t i = profile.locations[location].lines.size(); i-- > 0;) {
            indexes.push_back(frames.index_of(location, i));
        }
    }
    return indexes;
}

std::string name_of(const ThreadTimeline& thread) {
    if (thread.pid == thread.tid) {
        return thread.pid >= kFirstInventedPid ? thread.process
                                               : fmt::format("{} ({})", thread.process, thread.pid);
    }
    return fmt::format("{} ({}) / {} ({})", thread.process, thread.pid, thread.thread, thread.tid);
}

json thread_object(const symbolize::NamedProfile& profile, const FunctionFrames& frames,
                   const ThreadTimeline& thread) {
    json samples = json::array();
    json weights = json::array();
    for (const TimedSamples& part : thread.samples) {
        samples.push_back(root_first(profile, frames, *part.stack));
        weights.push_back(part.value);
    }
    return {{"type", "sampled"},
            {"name", name_of(thread)},
            {"unit", unit_of(profile.value_type)},
            {"startValue", 0},
            {"endValue", thread.value},
            {"samples", std::move(samples)},
            {"weights", std::move(weights)}};
}

}  // namespace

std::string encode_speedscope(const symbolize::NamedProfile& profile) {
    const FunctionFrames frames(profile);
    const Timelines timelines = lay_out_threads(profile);
    json frame_objects = json::array();
    for (const FunctionFrame& frame : frames.frames()) {
        frame_objects.push_back(frame_object(profile, frame));
    }
    json profiles = json::array();
    for (const ThreadTimeline& thread : timelines.threads) {
        profiles.push_back(thread_object(profile, frames, thread));
    }
    std::string name = fmt::format("{} profile by bobbin", profile.value_type.name);
    if (!timelines.has_times) name.append("; ").append(kNoTimesText);
    const json file{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                    {"exporter", "bobbin"},
                    {"name", name},
                    {"activeProfileIndex", 0},
                    {"shared", {{"frames", std::move(frame_objects)}}},
                    {"profiles", std::move(profiles)}};
    // Names in a file are any bytes.
    return file.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace bobbin::profile
