// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_symbolizer.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

namespace bobbin::symbolize {

bool KernelSymbolizer::is_list_too_old(std::span<const std::uint64_t> addresses) const {
    if (std::chrono::steady_clock::now() - list_read_ < *kept_for_) return false;
    const AddressRange core = list_->core();
    return std::ranges::any_of(addresses, [&](std::uint64_t address) {
        return address < core.start || address >= core.end;
    });
}

Result<KernelNames> KernelSymbolizer::read(std::span<const std::uint64_t> addresses) {
    if (list_ && !is_list_too_old(addresses)) return list_->find(addresses);
    std::ifstream text(kallsyms_path_);
    if (!text.is_open()) return fail_with(errno, "open {}", kallsyms_path_);
    if (!kept_for_) return read_kallsyms(text, addresses);
    list_ = KernelSymbolList::read(text);
    list_read_ = std::chrono::steady_clock::now();
    return list_->find(addresses);
}

Result<std::vector<std::vector<NamedFrame>>> KernelSymbolizer::name(
    std::span<const std::uint64_t> addresses) {
    BOBBIN_TRY(KernelNames names, read(addresses));
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
