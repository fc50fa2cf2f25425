// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kallsyms.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/parse_number.h"
#include "symbolize/alias_order.h"

namespace bobbin::symbolize {
namespace {

struct KallsymsLine {
    std::uint64_t address = 0;
    char type = 0;
    std::string_view name;
    std::string_view module;

    [[nodiscard]] bool is_text() const {
        return std::string_view("tTwW").find(type) != std::string_view::npos;
    }
};

std::string_view take_word(std::string_view& text) {
    constexpr std::string_view kBlanks = " \t";
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    text.remove_prefix(word.size());
    return word;
}

std::optional<KallsymsLine> parse_line(std::string_view text) {
    KallsymsLine line;
    const std::string_view address = take_word(text);
    const std::string_view type = take_word(text);
    line.name = take_word(text);
    line.module = take_word(text);
    const auto number = parse_number<std::uint64_t>(address, 16);
    if (!number || type.size() != 1 || line.name.empty()) return std::nullopt;
    line.address = *number;
    line.type = type.front();
    return line;
}

// The highest symbol between the address before and the one of this slot. 24 bytes: there is one
// for each line where the whole list is asked for.
struct Slot {
    std::uint64_t start = 0;  // 0: none
    std::uint32_t name = 0;   // offset in the reader's texts
    std::uint32_t name_size = 0;
    std::uint32_t module = 0;  // index
    bool is_text = false;
};

class KallsymsReader {
public:
    explicit KallsymsReader(std::span<const std::uint64_t> addresses)
        : addresses_(addresses), slots_(addresses.size()) {}

    void add(const KallsymsLine& line) {
        if (line.address == 0) return;  // hidden, or an offset in per-CPU memory
        if (line.is_text()) widen_range(line);
        const auto at = std::lower_bound(addresses_.begin(), addresses_.end(), line.address);
        if (at == addresses_.end()) return;
        Slot& slot = slots_[static_cast<std::size_t>(at - addresses_.begin())];
        if (!replaces(line, slot)) return;
        slot = {.start = line.address,
                .name = static_cast<std::uint32_t>(texts_.size()),
                .name_size = static_cast<std::uint32_t>(line.name.size()),
                .module = number_of(line.module),
                .is_text = line.is_text()};
        texts_.append(line.name);
    }

    KernelNames finish(const TakeKernelFunction& take) {
        const Slot* highest = nullptr;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i].start != 0) highest = &slots_[i];
            if (covers(highest, addresses_[i])) {
                take(name_of(*highest), modules_[highest->module]);
            } else {
                take({}, {});
            }
        }
        KernelNames names;
        names.image_start = image_start_;
        names.range_by_module = std::move(range_by_module_);
        if (const auto core = names.range_by_module.find(""); core != names.range_by_module.end()) {
            if (text_start_ != 0) core->second.start = text_start_;
            if (text_end_ > core->second.start) core->second.end = text_end_;
        }
        return names;
    }

private:
    [[nodiscard]] bool replaces(const KallsymsLine& line, const Slot& slot) const {
        if (line.address != slot.start) return line.address > slot.start;
        if (line.is_text() != slot.is_text) return line.is_text();
        return is_better_alias(line.name, name_of(slot));
    }

    [[nodiscard]] std::string_view name_of(const Slot& slot) const {
        return std::string_view(texts_).substr(slot.name, slot.name_size);
    }

    std::uint32_t number_of(std::string_view module) {
        if (modules_[last_module_] == module) return last_module_;
        const auto known = std::ranges::find(modules_, module);
        last_module_ = static_cast<std::uint32_t>(known - modules_.begin());
        if (known == modules_.end()) modules_.emplace_back(module);
        return last_module_;
    }

    [[nodiscard]] bool covers(const Slot* slot, std::uint64_t address) const {
        if (slot == nullptr || !slot->is_text) return false;
        if (modules_[slot->module].empty() && slot->start <= text_end_ && address >= text_end_) {
            return false;
        }
        return address - slot->start < kMaxKernelFunctionBytes;
    }

    void widen_range(const KallsymsLine& line) {
        if (line.module.empty() && line.name == "_text") image_start_ = line.address;
        if (line.module.empty() && line.name == "_stext") text_start_ = line.address;
        if (line.module.empty() && line.name == "_etext") text_end_ = line.address;
        if (module_ != line.module || range_ == nullptr) {
            module_ = line.module;
            range_ =
                &range_by_module_.try_emplace(module_, AddressRange{line.address, 0}).first->second;
        }
        range_->start = std::min(range_->start, line.address);
        range_->end = std::max(range_->end, line.address + 1);
    }

    std::span<const std::uint64_t> addresses_;
    std::vector<Slot> slots_;
    std::string texts_;
    std::vector<std::string> modules_{""};  // the core kernel's first; some hundred at most
    std::uint32_t last_module_ = 0;
    std::map<std::string, AddressRange> range_by_module_;
    std::string module_;             // of the last line: neighbours mostly share it
    AddressRange* range_ = nullptr;  // of module_
    std::uint64_t image_start_ = 0;
    std::uint64_t text_start_ = 0;
    std::uint64_t text_end_ = 0;
};

}  // namespace

KernelNames read_kallsyms(std::istream& text, std::span<const std::uint64_t> addresses,
                          const TakeKernelFunction& take) {
    KallsymsReader reader(addresses);
    std::uint64_t read_bytes = 0;
    for (std::string line; read_bytes < kMaxKallsymsBytes && std::getline(text, line);) {
        read_bytes += line.size() + 1;
        if (const auto symbol = parse_line(line)) reader.add(*symbol);
    }
    return reader.finish(take);
}

KernelNames read_kallsyms(std::istream& text, std::span<const std::uint64_t> addresses) {
    std::vector<KernelFunction> functions;
    functions.reserve(addresses.size());
    const auto keep = [&functions](std::string_view name, std::string_view module) {
        functions.push_back({std::string(name), std::string(module)});
    };
    KernelNames names = read_kallsyms(text, addresses, keep);
    names.functions = std::move(functions);
    return names;
}

}  // namespace bobbin::symbolize
