// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "executable/executable.h"

namespace bobbin::executable {

// The executables met so far, by id, but for those that were forgotten and that no sample showed.
// The unwind walk adds and removes, the sample walk looks up. Any thread; an Executable does not
// change once it is in here.
class Catalog {
public:
    void add(Executable executable);
    void remove(std::uint32_t id);
    // nullptr: not (yet) known. What samples show is never removed.
    [[nodiscard]] const Executable* find(std::uint32_t id) const;
    [[nodiscard]] std::vector<std::shared_ptr<const Executable>> all() const;

private:
    mutable std::mutex mutex_;
    std::unordered_map<std::uint32_t, std::shared_ptr<const Executable>> by_id_;
};

}  // namespace bobbin::executable
