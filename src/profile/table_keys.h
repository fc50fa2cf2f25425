// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "symbolize/named_profile.h"

namespace bobbin::profile {

// What makes an entry of a profile's tables the same as another one, as bytes: what a hash table
// can look up without a hash of its own for each type. Indices in them are those of one profile.
std::string key_of(const symbolize::Mapping& mapping);
std::string key_of(const symbolize::Function& function);
std::string key_of(const symbolize::Location& location);
std::string key_of(const symbolize::SampleLabels& labels);

template <class Number>
void append_number(std::string& key, Number number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// The place in `table` of what `key` stands for; what `make` returns is put there when it is new.
template <class Table, class Make>
std::uint32_t place_of(std::unordered_map<std::string, std::uint32_t>& index, std::string key,
                       Table& table, Make make) {
    const auto [found, is_new] =
        index.try_emplace(std::move(key), static_cast<std::uint32_t>(table.size()));
    if (is_new) table.push_back(make());
    return found->second;
}

}  // namespace bobbin::profile
