// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_kernel.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "symbolize/kernel_build_id.h"

namespace bobbin::symbolize {
namespace {

NamesOfEach names_of(std::span<const std::uint64_t> addresses, KernelSymbolizer* symbolizer) {
    if (symbolizer != nullptr && !addresses.empty()) {
        if (auto names = symbolizer->name(addresses)) return std::move(*names);
    }
    return NamesOfEach(addresses.size());
}

Mapping mapping_of(const std::string& module, const KernelSymbolizer* symbolizer) {
    Mapping mapping;
    mapping.file = module.empty() ? "[kernel]" : module;
    mapping.build_id = kernel_build_id(module);
    if (symbolizer != nullptr) {
        const AddressRange range = symbolizer->range_of(module);
        mapping.start_file_vaddr = range.start;
        mapping.end_file_vaddr = range.end;
    }
    return mapping;
}

}  // namespace

void name_kernel_locations(std::span<const std::uint64_t> addresses, KernelSymbolizer* symbolizer,
                           ProfileTables& tables) {
    const NamesOfEach names = names_of(addresses, symbolizer);
    std::map<std::string, std::uint32_t> mapping_by_module;
    for (std::uint32_t i = 0; i < addresses.size(); ++i) {
        const std::string module = names[i].empty() ? "" : names[i].front().module;
        const auto [mapping, is_new] = mapping_by_module.try_emplace(module, 0);
        if (is_new) mapping->second = tables.add_mapping(mapping_of(module, symbolizer));
        tables.set_location(i, mapping->second, addresses[i], names[i]);
    }
}

}  // namespace bobbin::symbolize
