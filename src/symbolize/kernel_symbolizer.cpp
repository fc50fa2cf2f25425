// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_symbolizer.h"

#include <cerrno>
#include <fstream>
#include <utility>

namespace bobbin::symbolize {

Result<std::vector<std::vector<NamedFrame>>> KernelSymbolizer::name(
    std::span<const std::uint64_t> addresses) {
    std::ifstream text(kallsyms_path_);
    if (!text.is_open()) return fail_with(errno, "open {}", kallsyms_path_);
    KernelNames names = read_kallsyms(text, addresses);
    range_by_module_ = std::move(names.range_by_module);

    std::vector<std::vector<NamedFrame>> frames(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        KernelFunction& function = names.functions[i];
        if (function.name.empty()) continue;
        frames[i].push_back({std::move(function.name), {}, 0, std::move(function.module)});
    }
    add_kernel_lines(addresses, names.image_start, debug_info_, frames);
    return frames;
}

AddressRange KernelSymbolizer::range_of(const std::string& module) const {
    const auto found = range_by_module_.find(module);
    return found == range_by_module_.end() ? AddressRange{} : found->second;
}

}  // namespace bobbin::symbolize
