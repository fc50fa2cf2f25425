// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "user_walk/table_source.h"

namespace bobbin::user_walk {

struct KernelMaps {
    int executables_fd = -1;
    int special_rules_fd = -1;
    int macros_fd = -1;
    // Where the bucket of this number is mapped already; nullptr: there is none. By number alone
    // the kernel gives a map only to CAP_SYS_ADMIN.
    std::function<const std::uint32_t*(std::uint32_t)> words_of_bucket;
    // Moves on before a bucket is taken away; never goes before its reader.
    unsigned long long& generation;
};

// The kernel side's own tables, mapped read-only: nothing is copied, and what is published shows at
// once.
class MappedTables final : public TableSource {
public:
    // Error: this kernel does not let them be mapped (before 5.5).
    static Result<std::unique_ptr<MappedTables>> open(const KernelMaps& maps);

    unwind_tables tables() override;
    bool add_bucket(std::uint32_t bucket) override;

private:
    // Pages of one map.
    class Pages {
    public:
        static Result<Pages> map(int fd, std::size_t bytes);
        Pages(Pages&& other) noexcept;
        Pages& operator=(Pages&& other) noexcept;
        ~Pages();
        template <class Value>
        [[nodiscard]] const Value* as() const {
            return static_cast<const Value*>(data_);
        }

    private:
        Pages(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
        void* data_;
        std::size_t bytes_;
    };

    MappedTables(const KernelMaps& maps, Pages executables, Pages special_rules, Pages macros);
    Pages executables_;
    Pages special_rules_;
    Pages macros_;
    std::function<const std::uint32_t*(std::uint32_t)> words_of_bucket_;
    unsigned long long& generation_;
    std::uint64_t generation_of_buckets_ = 0;
    std::vector<const std::uint32_t*> bucket_words_;  // MAX_BUCKETS
};

}  // namespace bobbin::user_walk
