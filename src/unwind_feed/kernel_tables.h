// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::unwind_feed {

// What the feed needs of the kernel side's maps. Implemented by sampler/bpf_kernel_tables and by a
// fake in tests. Each call is seen by the sampling programs when it returns.
class KernelTables {
public:
    KernelTables() = default;
    KernelTables(const KernelTables&) = delete;
    KernelTables& operator=(const KernelTables&) = delete;
    virtual ~KernelTables() = default;

    // Words of the pool from `first_word` on; buckets are made as they are needed.
    virtual Result<> write_words(std::uint32_t first_word,
                                 std::span<const std::uint32_t> words) = 0;
    virtual Result<> write_special_rules(std::uint32_t first_index,
                                         std::span<const abi::special_rule> rules) = 0;
    virtual Result<> write_macros(std::uint32_t first_index,
                                  std::span<const abi::macro> macros) = 0;
    virtual Result<> set_executable(std::uint32_t executable_id,
                                    const abi::executable& executable) = 0;
    virtual Result<> set_file(const abi::file_key& key, const abi::file_entry& entry) = 0;
};

}  // namespace bobbin::unwind_feed
