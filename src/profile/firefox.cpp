// SPDX-License-Identifier: Apache-2.0
#include "profile/firefox.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/base_name.h"
#include "profile/firefox_thread.h"
#include "profile/thread_timelines.h"

namespace bobbin::profile {
namespace {

using nlohmann::json;

constexpr int kProcessedVersion = 55;
constexpr int kGeckoVersion = 24;  // has to be there and is not looked at
constexpr double kUnknownIntervalMs = 1;
// Debug ids are 32 digits of a GUID and an age, here none.
constexpr std::size_t kDebugIdDigits = 33;

json category(std::string_view name, std::string_view color) {
    return {{"name", name}, {"color", color}, {"subcategories", json::array({"Other"})}};
}

// Shown on the page's "profile info" panel.
json extra_of(const symbolize::NamedProfile& profile, bool has_times) {
    json entries = json::array();
    const auto add = [&](const std::string& label, const std::string& value) {
        entries.push_back({{"label", label}, {"format", "string"}, {"value", value}});
    };
    if (!has_times) add("Times", kNoTimesText);
    for (std::size_t i = 0; i < profile.comments.size(); ++i) {
        add(fmt::format("Comment {}", i + 1), profile.comments[i]);
    }
    return json::array({{{"label", "Recording"}, {"entries", std::move(entries)}}});
}

double interval_ms(const symbolize::NamedProfile& profile) {
    const bool is_time = profile.value_type == symbolize::ValueType{};
    const double period_ms = std::chrono::duration<double, std::milli>(profile.period).count();
    return is_time && period_ms > 0 ? period_ms : kUnknownIntervalMs;
}

json meta_of(const symbolize::NamedProfile& profile, bool has_times) {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    const double start_ms = Milliseconds(profile.started.time_since_epoch()).count();
    return {{"version", kGeckoVersion},
            {"preprocessedProfileVersion", kProcessedVersion},
            {"product", "bobbin"},
            {"importedFrom", "bobbin"},
            {"processType", 0},
            {"stackwalk", 1},
            {"debug", false},
            {"interval", interval_ms(profile)},
            {"startTime", start_ms},
            {"symbolicated", true},
            {"sampleUnits", {{"time", "ms"}, {"eventDelay", "ms"}, {"threadCPUDelta", "ns"}}},
            {"categories", json::array({category("Other", "grey"), category("User", "yellow"),
                                        category("Kernel", "orange")})},
            {"extensions",
             {{"length", 0},
              {"baseURL", json::array()},
              {"id", json::array()},
              {"name", json::array()}}},
            {"markerSchema", json::array()},
            {"pausedRanges", json::array()},
            {"usesOnlyOneStackType", true},
            {"sourceCodeIsNotOnSearchfox", true},
            {"extra", extra_of(profile, has_times)}};
}

// The first 16 bytes of the build id as a GUID: its first three fields in the other byte order.
std::string debug_id_of(const symbolize::Mapping& mapping) {
    constexpr std::array<std::size_t, 16> kOrder = {3, 2, 1,  0,  5,  4,  7,  6,
                                                    8, 9, 10, 11, 12, 13, 14, 15};
    std::string id(kDebugIdDigits, '0');
    for (std::size_t i = 0; i < kOrder.size(); ++i) {
        for (std::size_t digit = 0; digit < 2; ++digit) {
            const std::size_t from = 2 * kOrder.at(i) + digit;
            if (from >= mapping.build_id.size()) continue;
            const char c = mapping.build_id[from];
            id[2 * i + digit] = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
        }
    }
    return id;
}

json libs_of(const symbolize::NamedProfile& profile) {
    json libs = json::array();
    for (const symbolize::Mapping& mapping : profile.mappings) {
        const std::string_view name = base_name(mapping.file);
        libs.push_back({{"name", name},
                        {"path", mapping.file},
                        {"debugName", name},
                        {"debugPath", mapping.file},
                        {"breakpadId", debug_id_of(mapping)},
                        {"codeId", mapping.build_id.empty() ? json() : json(mapping.build_id)},
                        {"arch", nullptr}});
    }
    return libs;
}

}  // namespace

std::string encode_firefox(const symbolize::NamedProfile& profile) {
    const Timelines timelines = lay_out_threads(profile);
    json threads = json::array();
    for (const ThreadTimeline& thread : timelines.threads) {
        threads.push_back(FirefoxThread(profile, thread).encode());
    }
    const json file{{"meta", meta_of(profile, timelines.has_times)},
                    {"libs", libs_of(profile)},
                    {"pages", json::array()},
                    {"counters", json::array()},
                    {"profilerOverhead", json::array()},
                    {"threads", std::move(threads)}};
    // Names in a file are any bytes.
    return file.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace bobbin::profile
