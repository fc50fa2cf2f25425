// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// Bytes of JSON take up to 16 times their size in memory.
inline constexpr std::size_t kMaxSpeedscopeBytes = std::size_t{256} << 20;

// speedscope's own JSON into the model. Each profile of the file is a process of that name; times
// become CPU time in nanoseconds, what has no unit a count; when samples came is not kept. Profiles
// of another unit than the first are an error, as is what refers to nothing.
Result<symbolize::NamedProfile> read_speedscope(std::string_view bytes);

}  // namespace bobbin::profile
