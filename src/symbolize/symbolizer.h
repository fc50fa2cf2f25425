// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace bobbin::symbolize {

// One function at an address. `file` and `line` stay empty where a symbolizer does not know them.
struct NamedFrame {
    std::string system_name;
    std::string file;
    std::uint32_t line = 0;
    std::string module;  // of the kernel, "[nf_tables]" or "[bpf]"; empty: its core, or user code
};

using NamesOfEach = std::vector<std::vector<NamedFrame>>;

// Gives the functions at addresses of one object (an ELF file, the kernel, the vdso). `addresses`
// ascend and are file_vaddrs (kernel: addresses). The answer has one list an address, innermost
// inlined function first; an empty list means "no name".
class Symbolizer {
public:
    virtual ~Symbolizer() = default;
    virtual Result<std::vector<std::vector<NamedFrame>>> name(
        std::span<const std::uint64_t> addresses) = 0;
};

}  // namespace bobbin::symbolize
