// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "symbolize/kallsyms.h"
#include "symbolize/kernel_lines.h"
#include "symbolize/kernel_symbol_list.h"
#include "symbolize/symbolizer.h"

namespace bobbin::symbolize {

// Names kernel addresses, those of modules and BPF programs too, by /proc/kallsyms as it is at the
// moment of name(), and gives them lines where there is a vmlinux (kernel_lines.h). Needs neither
// /proc/modules nor /proc/kcore. No names where the kernel hides its addresses
// (kernel.kptr_restrict): that is no error.
class KernelSymbolizer final : public Symbolizer {
public:
    explicit KernelSymbolizer(std::string kallsyms_path = "/proc/kallsyms",
                              KernelDebugInfo debug_info = {})
        : kallsyms_path_(std::move(kallsyms_path)), debug_info_(std::move(debug_info)) {}

    // Keeps the list from one name() to the next. It is read again when it is older than `age` and
    // an address lies outside the core kernel: modules and BPF programs come and go.
    void keep_list_for(std::chrono::seconds age) { kept_for_ = age; }

    Result<std::vector<std::vector<NamedFrame>>> name(
        std::span<const std::uint64_t> addresses) override;

    // As of the last name(); "" is the core kernel's text. Start 0: not known.
    [[nodiscard]] AddressRange range_of(const std::string& module) const;

private:
    Result<KernelNames> read(std::span<const std::uint64_t> addresses);
    [[nodiscard]] bool is_list_too_old(std::span<const std::uint64_t> addresses) const;

    std::string kallsyms_path_;
    KernelDebugInfo debug_info_;
    std::map<std::string, AddressRange> range_by_module_;
    std::optional<std::chrono::seconds> kept_for_;
    std::optional<KernelSymbolList> list_;
    std::chrono::steady_clock::time_point list_read_;
};

}  // namespace bobbin::symbolize
