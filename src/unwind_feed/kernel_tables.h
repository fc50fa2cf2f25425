// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

    // Words of the pool from `first_word` on; their buckets exist.
    virtual Result<> write_words(std::uint32_t first_word,
                                 std::span<const std::uint32_t> words) = 0;
    virtual Result<> write_special_rules(std::uint32_t first_index,
                                         std::span<const abi::special_rule> rules) = 0;
    virtual Result<> write_macros(std::uint32_t first_index,
                                  std::span<const abi::macro> macros) = 0;
    // At the id's place.
    virtual Result<> set_executable(std::uint32_t executable_id,
                                    const abi::executable& executable) = 0;
    virtual Result<> set_file(const abi::file_key& key, const abi::file_entry& entry) = 0;

    // How many files can have an id at one time. User space alone gives ids back.
    [[nodiscard]] virtual std::size_t id_count() const {
        return abi::MAX_EXECUTABLES - FIRST_FILE_EXECUTABLE_ID;
    }
    // The file is not known any more; begin_forgetting() was called, and is undone by
    // end_forgetting() when no walk is left that may have met it.
    virtual Result<> forget_file(const abi::file_key& /*key*/) { return {}; }
    virtual void begin_forgetting() {}
    virtual void end_forgetting() {}
    // The kernel may give it to a file.
    virtual Result<> add_free_id(std::uint32_t /*executable_id*/) { return {}; }

    // What follows has nothing to do where buckets are just memory and nobody walks meanwhile.
    virtual Result<> add_bucket(std::uint32_t /*bucket*/) { return {}; }
    virtual Result<> drop_bucket(std::uint32_t /*bucket*/) { return {}; }
    // Rules that programs remember from earlier walks are void from here on.
    virtual void void_remembered_rules() {}
    // Returns when all walks that began before the call are over.
    virtual Result<> wait_for_walks() { return {}; }
};

}  // namespace bobbin::unwind_feed
