// SPDX-License-Identifier: Apache-2.0
#include "executable/catalog.h"

#include <algorithm>
#include <utility>

namespace bobbin::executable {

void Catalog::add(Executable executable) {
    const std::uint32_t id = executable.id;
    auto owned = std::make_shared<const Executable>(std::move(executable));
    const std::scoped_lock lock(mutex_);
    by_id_.emplace(id, std::move(owned));
}

void Catalog::remove(std::uint32_t id) {
    const std::scoped_lock lock(mutex_);
    by_id_.erase(id);
}

const Executable* Catalog::find(std::uint32_t id) const {
    const std::scoped_lock lock(mutex_);
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second.get();
}

std::vector<std::shared_ptr<const Executable>> Catalog::all() const {
    std::vector<std::shared_ptr<const Executable>> result;
    {
        const std::scoped_lock lock(mutex_);
        result.reserve(by_id_.size());
        for (const auto& [id, executable] : by_id_) result.push_back(executable);
    }
    std::ranges::sort(result, {}, [](const auto& executable) { return executable->id; });
    return result;
}

}  // namespace bobbin::executable
