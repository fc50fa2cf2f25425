// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolize/demangle.h"
#include "symbolize/named_profile.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

// The functions, mappings and locations of a profile while names come in, object by object.
class ProfileTables {
public:
    explicit ProfileTables(std::size_t location_count) : locations_(location_count) {}

    std::uint32_t add_mapping(Mapping mapping);

    // Location number `location` lies at `address` of `mapping` and has these functions, innermost
    // first; without any it is called "module+0xaddress". A mapping whose limits were not known
    // grows to hold it.
    void set_location(std::uint32_t location, std::uint32_t mapping, std::uint64_t address,
                      std::span<const NamedFrame> frames);

    // Gives the functions that were added since the last time names for people. One object at a
    // time: a name that costs the demangler its life costs those of its own object only.
    void demangle_new(const DemangleNames& demangle);

    void move_to(NamedProfile& profile);

private:
    std::uint32_t index_of_function(const std::string& system_name, const std::string& file);
    static void note_what_is_known(Mapping& mapping, std::span<const NamedFrame> frames);

    std::vector<Mapping> mappings_;
    std::vector<Function> functions_;
    std::size_t demangled_count_ = 0;  // of functions_
    std::vector<Location> locations_;
    std::unordered_map<std::string, std::uint32_t> function_by_key_;
};

}  // namespace bobbin::symbolize
