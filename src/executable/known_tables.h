// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "executable/content_key.h"

namespace bobbin::executable {

// Which tables the kernel has, by what they were made from: whoever reads another file with the
// same content need not build one. The feed adds and removes, builders ask. Any thread.
class KnownTables {
public:
    struct Table {
        std::uint32_t executable_id = 0;  // one of those whose table it is
        std::uint64_t row_count = 0;
        std::uint64_t bytes = 0;
    };

    void add(const ContentKey& content, const Table& table);
    void remove(const ContentKey& content);
    [[nodiscard]] std::optional<Table> find(const ContentKey& content) const;

private:
    mutable std::mutex mutex_;
    std::map<ContentKey, Table> tables_;
};

}  // namespace bobbin::executable
