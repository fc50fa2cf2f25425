// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "luajit/vm_layout.h"

namespace bobbin::luajit {

struct VaddrRange {
    std::uint64_t begin_file_vaddr = 0;
    std::uint64_t end_file_vaddr = 0;

    [[nodiscard]] bool contains(std::uint64_t file_vaddr) const {
        return begin_file_vaddr <= file_vaddr && file_vaddr < end_file_vaddr;
    }
    friend bool operator==(const VaddrRange&, const VaddrRange&) = default;
};

// Code that has a VM in it, and where that lies by its unwind information, if it has any.
struct VmCode {
    std::span<const std::byte> bytes;
    std::uint64_t file_vaddr = 0;
    std::optional<VaddrRange> assembly;
};

// The longest the assembly may be; 14 to 19 KiB in builds seen.
inline constexpr std::uint64_t kMaxAssemblyBytes = 64U << 10;

// Reads a build's layout by templates of its machine code. Never a guess. Error: which template
// does not match, or does more than once; which two disagree; or which relation does not hold that
// holds in all builds of LuaJIT 2.1. Pure; linear in the code's size.
Result<VmLayout> read_layout(const VmCode& code);

}  // namespace bobbin::luajit
