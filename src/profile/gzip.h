// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bobbin::profile {

// `bytes` as one gzip member (RFC 1952), without name and time: equal bytes give equal files.
Result<std::string> gzip(std::string_view bytes);

// The inverse of gzip(), up to `max_bytes`. Several members, one behind the other, are one text.
Result<std::string> gunzip(std::string_view bytes, std::size_t max_bytes);

// RFC 1952 section 2.3.1.
bool is_gzip(std::string_view bytes);

}  // namespace bobbin::profile
