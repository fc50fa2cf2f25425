// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/kallsyms.h"

namespace bobbin::symbolize {

// The whole of /proc/kallsyms, for who asks for names again and again: reading it takes the kernel
// tens of milliseconds. Immutable. 122,133 lines of a 6.1 kernel stay as 5 MB.
class KernelSymbolList {
public:
    // Text in the format of /proc/kallsyms, of which kMaxKallsymsBytes are read.
    static KernelSymbolList read(std::istream& text);

    // As read_kallsyms() of the same text; `addresses` need no order.
    [[nodiscard]] KernelNames find(std::span<const std::uint64_t> addresses) const;

    // The core kernel's text; 0 to 0: not known.
    [[nodiscard]] AddressRange core() const;

private:
    struct Symbol {
        std::uint64_t address = 0;
        std::uint32_t name = 0;    // offset in names_
        std::uint32_t module = 0;  // index into modules_
    };
    std::vector<Symbol> symbols_;               // ascending, each address once
    std::string names_ = std::string(1, '\0');  // each ends with NUL; the one at 0 is none
    std::vector<std::string> modules_;
    std::map<std::string, AddressRange> range_by_module_;
    std::uint64_t image_start_ = 0;
};

}  // namespace bobbin::symbolize
