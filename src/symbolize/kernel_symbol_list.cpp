// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_symbol_list.h"

#include <algorithm>
#include <istream>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "base/parse_number.h"

namespace bobbin::symbolize {
namespace {

std::string read_bounded(std::istream& text) {
    constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
    std::string all;
    // What is not written to is not there: so nothing is copied when it grows.
    all.reserve(kMaxKallsymsBytes);
    while (text && all.size() < kMaxKallsymsBytes) {
        const std::size_t before = all.size();
        all.resize(before + kChunkBytes);
        text.read(all.data() + before, static_cast<std::streamsize>(kChunkBytes));
        all.resize(before + static_cast<std::size_t>(text.gcount()));
    }
    return all;
}

// Where lines say that something begins; ascending, each once.
std::vector<std::uint64_t> addresses_in(std::string_view text) {
    std::vector<std::uint64_t> addresses;
    while (!text.empty()) {
        const std::size_t line_end = std::min(text.find('\n'), text.size() - 1);
        std::string_view line = text.substr(0, line_end);
        const std::uint64_t address = take_number<std::uint64_t>(line, 16).value_or(0);
        if (address != 0) addresses.push_back(address);
        text.remove_prefix(line_end + 1);
    }
    std::ranges::sort(addresses);
    const auto repeated = std::ranges::unique(addresses);
    addresses.erase(repeated.begin(), repeated.end());
    return addresses;
}

}  // namespace

// What covers an address is what covers the last place at or below it where a symbol stands. So the
// answers for all such places are the list.
KernelSymbolList KernelSymbolList::read(std::istream& text) {
    std::string all = read_bounded(text);
    const std::vector<std::uint64_t> addresses = addresses_in(all);
    KernelSymbolList list;
    list.symbols_.reserve(addresses.size());
    std::unordered_map<std::string_view, std::uint32_t> module_numbers;
    const auto add = [&](std::string_view name, std::string_view module) {
        const auto next = static_cast<std::uint32_t>(list.modules_.size());
        const auto [number, is_new] = module_numbers.try_emplace(module, next);
        if (is_new) list.modules_.emplace_back(module);
        Symbol symbol{
            .address = addresses[list.symbols_.size()], .name = 0, .module = number->second};
        if (!name.empty()) {
            symbol.name = static_cast<std::uint32_t>(list.names_.size());
            list.names_.append(name).push_back('\0');
        }
        list.symbols_.push_back(symbol);
    };
    std::istringstream again(std::move(all));
    KernelNames names = read_kallsyms(again, addresses, add);
    list.names_.shrink_to_fit();
    list.range_by_module_ = std::move(names.range_by_module);
    list.image_start_ = names.image_start;
    return list;
}

KernelNames KernelSymbolList::find(std::span<const std::uint64_t> addresses) const {
    KernelNames found{.functions = std::vector<KernelFunction>(addresses.size()),
                      .range_by_module = range_by_module_,
                      .image_start = image_start_};
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const auto after = std::ranges::upper_bound(symbols_, addresses[i], {}, &Symbol::address);
        if (after == symbols_.begin()) continue;
        const Symbol& symbol = *std::prev(after);
        if (symbol.name == 0 || addresses[i] - symbol.address >= kMaxKernelFunctionBytes) continue;
        found.functions[i] = {.name = names_.c_str() + symbol.name,
                              .module = modules_[symbol.module]};
    }
    return found;
}

AddressRange KernelSymbolList::core() const {
    const auto found = range_by_module_.find("");
    return found == range_by_module_.end() ? AddressRange{} : found->second;
}

}  // namespace bobbin::symbolize
