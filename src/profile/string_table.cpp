// SPDX-License-Identifier: Apache-2.0
#include "profile/string_table.h"

#include "profile/utf8.h"

namespace bobbin::profile {

// Two texts that differ only in bytes that are no UTF-8 keep two entries of the same content.
std::int64_t StringTable::index_of(std::string_view text) {
    if (const auto found = index_by_text_.find(text); found != index_by_text_.end()) {
        return found->second;
    }
    const auto index = static_cast<std::int64_t>(strings_.size());
    index_by_text_.emplace(text, index);
    strings_.push_back(to_valid_utf8(text));
    return index;
}

}  // namespace bobbin::profile
