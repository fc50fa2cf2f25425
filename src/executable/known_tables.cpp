// SPDX-License-Identifier: Apache-2.0
#include "executable/known_tables.h"

namespace bobbin::executable {

void KnownTables::add(const ContentKey& content, const Table& table) {
    const std::scoped_lock lock(mutex_);
    tables_.insert_or_assign(content, table);
}

void KnownTables::remove(const ContentKey& content) {
    const std::scoped_lock lock(mutex_);
    tables_.erase(content);
}

std::optional<KnownTables::Table> KnownTables::find(const ContentKey& content) const {
    const std::scoped_lock lock(mutex_);
    const auto known = tables_.find(content);
    return known == tables_.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace bobbin::executable
