// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "symbolize/named_profile.h"

namespace bobbin::report::test {

// A profile in the making. Each function has one location of its own, in a module; the value of a
// sample is 10.
class SmallProfile {
public:
    // A location of these functions, innermost first, of which all but the last were inlined.
    std::uint32_t location(const std::vector<std::string>& functions, const std::string& module,
                           std::uint32_t line = 0) {
        symbolize::Location location{.mapping = mapping(module)};
        location.is_named = true;
        for (const std::string& name : functions) {
            location.lines.push_back({function(name), line});
        }
        profile.locations.push_back(std::move(location));
        return static_cast<std::uint32_t>(profile.locations.size() - 1);
    }

    // Leaf first.
    symbolize::NamedStack& stack(std::vector<std::uint32_t> locations, std::uint64_t count) {
        symbolize::NamedStack stack;
        stack.locations = std::move(locations);
        stack.count = count;
        stack.value = count * 10;
        profile.sample_count += count;
        profile.stacks.push_back(std::move(stack));
        return profile.stacks.back();
    }

    symbolize::NamedProfile profile;

private:
    std::uint32_t mapping(const std::string& file) {
        for (std::uint32_t i = 0; i < profile.mappings.size(); ++i) {
            if (profile.mappings[i].file == file) return i;
        }
        profile.mappings.emplace_back().file = file;
        return static_cast<std::uint32_t>(profile.mappings.size() - 1);
    }
    std::uint32_t function(const std::string& name) {
        for (std::uint32_t i = 0; i < profile.functions.size(); ++i) {
            if (profile.functions[i].name == name) return i;
        }
        profile.functions.push_back({name, name, "/src/" + name + ".c"});
        return static_cast<std::uint32_t>(profile.functions.size() - 1);
    }
};

}  // namespace bobbin::report::test
