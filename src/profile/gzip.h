// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace bobbin::profile {

// `bytes` as one gzip member (RFC 1952), without name and time: equal bytes give equal files.
Result<std::string> gzip(std::string_view bytes);

}  // namespace bobbin::profile
