// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

#include "symbolize/kallsyms.h"
#include "symbolize/kernel_lines.h"
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

    Result<std::vector<std::vector<NamedFrame>>> name(
        std::span<const std::uint64_t> addresses) override;

    // As of the last name(); "" is the core kernel's text. Start 0: not known.
    [[nodiscard]] AddressRange range_of(const std::string& module) const;

private:
    std::string kallsyms_path_;
    KernelDebugInfo debug_info_;
    std::map<std::string, AddressRange> range_by_module_;
};

}  // namespace bobbin::symbolize
