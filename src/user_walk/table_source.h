// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "user_walk/unwinder.h"

namespace bobbin::user_walk {

// Where walks find the kernel side's tables. One thread.
class TableSource {
public:
    TableSource() = default;
    TableSource(const TableSource&) = delete;
    TableSource& operator=(const TableSource&) = delete;
    virtual ~TableSource() = default;

    // The tables of every file that was ready before the call; valid until the next one. A bucket
    // may be missing until it is asked for.
    virtual unwind_tables tables() = 0;
    // The bucket of this number was missing; false: it cannot be had.
    virtual bool add_bucket(std::uint32_t bucket) = 0;
};

}  // namespace bobbin::user_walk
