// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// The profile as one page that needs nothing but a browser: flame graph, callers and callees,
// functions, filters. view/ is the page; the data is packed JSON inside it. It loads nothing: its
// content security policy allows its own script and style alone.
Result<std::string> encode_html(const symbolize::NamedProfile& profile);

// The data before it is packed; view/view.js says what it looks like.
std::string encode_view_json(const symbolize::NamedProfile& profile);

// RFC 4648 section 4, with padding.
std::string encode_base64(std::string_view bytes);

}  // namespace bobbin::profile
