// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "executable/executable.h"

namespace bobbin::executable {

// Every executable met so far, by id. The unwind walk adds, the sample walk looks up. Any thread;
// an Executable does not change once it is in here.
class Catalog {
public:
    void add(Executable executable);
    // nullptr: not (yet) known.
    [[nodiscard]] const Executable* find(std::uint32_t id) const;
    [[nodiscard]] std::vector<const Executable*> all() const;

private:
    mutable std::mutex mutex_;
    std::unordered_map<std::uint32_t, std::unique_ptr<const Executable>> by_id_;
};

}  // namespace bobbin::executable
