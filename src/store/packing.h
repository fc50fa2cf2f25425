// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bobbin::store {

// zstd with its checksum, so that what is damaged is refused.
Result<std::string> pack(std::string_view text, int level);
// Of one frame, which has to say its length. Error also where that is more than `max_bytes`.
Result<std::string> unpack(std::string_view packed, std::size_t max_bytes);

}  // namespace bobbin::store
