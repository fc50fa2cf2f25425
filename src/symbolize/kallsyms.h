// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bobbin::symbolize {

struct KernelFunction {
    std::string name;    // empty: no name for this address
    std::string module;  // "[nf_tables]", "[bpf]"; empty: the core kernel
};

struct AddressRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

struct KernelNames {
    std::vector<KernelFunction> functions;  // one for each address asked for
    // Of the core kernel (key ""): _stext to _etext; of a module: from its first to its last text
    // symbol. The core has none when the list shows no addresses.
    std::map<std::string, AddressRange> range_by_module;
    std::uint64_t image_start = 0;  // `_text`, where the core kernel begins; 0: not shown
};

// Reads text in the format of /proc/kallsyms, "ffffffff81000000 T _stext" and, for modules and BPF
// programs, a fourth column. Only text symbols name: t, T, w, W; any other symbol ends the function
// before it, since the list has no sizes. Where kernel.kptr_restrict hides addresses all of them
// are zero: then there are no names. Reading stops at kMaxKallsymsBytes (122,133 lines of a 6.1
// kernel have 5.4 MB). `addresses` ascend.
//
// One pass, in any order of lines, with memory for `addresses` only: a symbol is remembered at the
// first address at or above it, where the highest one wins, and the winner is handed on upwards.
inline constexpr std::uint64_t kMaxKallsymsBytes = 64ULL << 20;
// The list has no sizes, and behind the last module or BPF program there may be nothing for
// gigabytes. The longest C function of a 6.1 kernel has 20 KiB.
inline constexpr std::uint64_t kMaxKernelFunctionBytes = 1ULL << 20;
KernelNames read_kallsyms(std::istream& text, std::span<const std::uint64_t> addresses);

// The same for who keeps functions in another form: `take` is told the name and the module of each
// address, in their order; both are borrowed. What is returned has no functions.
using TakeKernelFunction = std::function<void(std::string_view name, std::string_view module)>;
KernelNames read_kallsyms(std::istream& text, std::span<const std::uint64_t> addresses,
                          const TakeKernelFunction& take);

}  // namespace bobbin::symbolize
