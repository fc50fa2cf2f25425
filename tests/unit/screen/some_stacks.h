// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "screen/snapshot.h"

namespace bobbin::test {

// One stack of a snapshot: functions from the innermost on, all of one module.
struct SomeStack {
    std::string comm;
    std::uint32_t pid = 0;
    std::vector<std::string> functions;
    std::uint64_t count = 0;
};

inline symbolize::NamedProfile named_profile(const std::vector<SomeStack>& stacks,
                                             const std::string& module = "/usr/bin/web") {
    symbolize::NamedProfile profile;
    profile.mappings.push_back({.file = module});
    std::map<std::string, std::uint32_t> numbers;
    for (const SomeStack& stack : stacks) {
        symbolize::NamedStack named{.count = stack.count, .value = stack.count};
        named.labels.comm = stack.comm;
        named.labels.pid = stack.pid;
        for (const std::string& name : stack.functions) {
            const auto next = static_cast<std::uint32_t>(profile.functions.size());
            const auto [number, is_new] = numbers.try_emplace(name, next);
            if (is_new) {
                profile.functions.push_back({.name = name, .system_name = name, .file = {}});
                profile.locations.push_back({.lines = {{.function = next}}, .is_named = true});
            }
            named.locations.push_back(number->second);
        }
        profile.sample_count += stack.count;
        profile.stacks.push_back(std::move(named));
    }
    return profile;
}

inline std::shared_ptr<const screen::Snapshot> snapshot_of(const std::vector<SomeStack>& stacks) {
    auto snapshot = std::make_shared<screen::Snapshot>();
    snapshot->profile = named_profile(stacks);
    snapshot->window = std::chrono::seconds{10};
    snapshot->frequency_hz = 100;
    snapshot->cpu_count = 4;
    return snapshot;
}

}  // namespace bobbin::test
