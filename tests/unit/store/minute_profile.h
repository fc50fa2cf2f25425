// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "symbolize/named_profile.h"

namespace bobbin::store::test {

using std::chrono::nanoseconds;
using std::chrono::seconds;

// 2026-11-22 10:30:00 UTC; `date -u -d @1795343400`.
inline const auto kMorning = std::chrono::system_clock::from_time_t(1'795'343'400);

// A profile of a minute in spans of 100 ms, sampled each 50 ms, so that value is count times that.
// Functions have one location each; they are listed as they come, callers first.
class MinuteProfile {
public:
    static constexpr nanoseconds kPeriod = std::chrono::milliseconds{50};

    explicit MinuteProfile(std::chrono::system_clock::time_point started = kMorning) {
        profile.started = started;
        profile.duration = seconds{60};
        profile.period = kPeriod;
        profile.time_bucket = std::chrono::milliseconds{100};
        profile.mappings.push_back(
            {.start_file_vaddr = 0x1000, .end_file_vaddr = 0x9000, .file = "/usr/bin/app"});
    }

    // `functions` innermost first.
    MinuteProfile& add(const std::vector<std::string>& functions, symbolize::SampleLabels labels,
                       aggregate::TimeCounts times) {
        symbolize::NamedStack stack{.labels = std::move(labels), .times = std::move(times)};
        for (auto name = functions.rbegin(); name != functions.rend(); ++name) {
            stack.locations.insert(stack.locations.begin(), location(*name));
        }
        for (const aggregate::TimeCount& time : stack.times) stack.count += time.count;
        stack.value = stack.count * static_cast<std::uint64_t>(kPeriod.count());
        profile.sample_count += stack.count;
        profile.by_walk_end.at(stack.walk_end) += stack.count;
        profile.stacks.push_back(std::move(stack));
        return *this;
    }

    symbolize::NamedProfile profile;

private:
    std::uint32_t location(const std::string& name) {
        for (std::uint32_t i = 0; i < profile.functions.size(); ++i) {
            if (profile.functions[i].name == name) return i;
        }
        const auto index = static_cast<std::uint32_t>(profile.functions.size());
        profile.functions.push_back({name, name, "/src/" + name + ".c"});
        // By its name, so that a function is at the same place in each profile.
        const std::uint64_t address = 0x1000 + std::hash<std::string>{}(name) % 0x7000;
        profile.locations.push_back({.address = address, .lines = {{index, 7}}, .is_named = true});
        return index;
    }
};

inline symbolize::SampleLabels labels_of(std::uint32_t pid, const std::string& comm,
                                         const std::string& unit = {}) {
    symbolize::SampleLabels labels{.pid = pid, .tid = pid, .comm = comm, .thread = comm};
    labels.unit = unit;
    if (!unit.empty()) labels.cgroup = "/system.slice/" + unit;
    return labels;
}

}  // namespace bobbin::store::test
