// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/string_table.h"
#include "profile/thread_timelines.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// Of `meta.categories`: index 0 has to be the grey one.
enum FirefoxCategory : std::uint32_t { kFirefoxOther, kFirefoxUser, kFirefoxKernel };

// One `threads[]` object: its samples and the tables of its own that they refer to.
class FirefoxThread {
public:
    FirefoxThread(const symbolize::NamedProfile& profile, const ThreadTimeline& thread)
        : profile_(profile), thread_(thread) {}
    nlohmann::json encode();

private:
    // A frame is a line of a location; a function a name in a library and a source file.
    using FrameKey = std::pair<std::uint32_t, std::uint32_t>;
    using FunctionKey = std::array<std::int64_t, 3>;

    std::uint32_t text(std::string_view value) {
        return static_cast<std::uint32_t>(strings_.index_of(value));
    }
    std::optional<std::uint32_t> stack_index(const symbolize::NamedStack& stack);
    std::uint32_t stack_index(std::int64_t prefix, std::uint32_t frame);
    std::uint32_t frame_index(std::uint32_t location, std::uint32_t line);
    std::uint32_t function_index(std::uint32_t function, std::uint32_t mapping);
    std::int64_t resource_index(std::uint32_t mapping);
    [[nodiscard]] std::int64_t address_of(const symbolize::Location& location) const;
    nlohmann::json encode_samples();
    nlohmann::json encode_frames();
    nlohmann::json encode_functions();
    nlohmann::json encode_stacks();
    nlohmann::json encode_resources();

    const symbolize::NamedProfile& profile_;
    const ThreadTimeline& thread_;
    StringTable strings_;
    std::map<FrameKey, std::uint32_t> frame_by_key_;
    std::vector<FrameKey> frames_;
    std::vector<std::uint32_t> frame_functions_;
    std::map<FunctionKey, std::uint32_t> function_by_key_;
    std::vector<FunctionKey> functions_;  // name, resource, file
    std::unordered_map<std::uint64_t, std::uint32_t> stack_by_key_;
    std::vector<std::int64_t> stack_prefixes_;
    std::vector<std::uint32_t> stack_frames_;
    std::map<std::uint32_t, std::int64_t> resource_by_mapping_;
    std::vector<std::uint32_t> resource_mappings_;
};

}  // namespace bobbin::profile
