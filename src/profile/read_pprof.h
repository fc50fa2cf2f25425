// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// Of a profile before compression. Ten minutes of a busy machine of 2 CPUs have 4 MB.
inline constexpr std::size_t kMaxProfileBytes = std::size_t{1} << 30;

// A profile in pprof's format, of whatever program, gzip-compressed or not, back into the model.
// Of several values of a sample the one of `value_name` is taken; empty: the one that the file
// calls its default, else the last. The count is the first value whose unit is "count", else that
// value. What refers to nothing, or is longer than kMaxProfileBytes, is an error.
//
// What the format does not say: a location is the kernel's when its address has the top bit set,
// and without a name when its line says "module+0x12" or it has none.
Result<symbolize::NamedProfile> read_pprof(std::string_view bytes,
                                           std::string_view value_name = {});

}  // namespace bobbin::profile
