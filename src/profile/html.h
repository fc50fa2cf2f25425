// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::profile {

// The profile as one page that needs nothing but a browser: flame graph, callers and callees,
// functions, when samples came, filters. view/ is the page; the data is packed JSON inside it. It
// loads nothing: its content security policy allows its own script and style alone.
Result<std::string> encode_html(const symbolize::NamedProfile& profile);

// The same page of two profiles: widths of `profile`, or at the press of a button of `base`,
// coloured by what grew and what shrank. Functions are matched by same_names.h.
Result<std::string> encode_diff_html(const symbolize::NamedProfile& base,
                                     const symbolize::NamedProfile& profile);

// The data before it is packed; view/model.js says what it looks like. `base` may be null. Of more
// than 200,000 places in stacks those below 0.01 % are folded, which the page says.
std::string encode_view_json(const symbolize::NamedProfile& profile,
                             const symbolize::NamedProfile* base = nullptr);

// What tells a profile from others.
std::string title_of(const symbolize::NamedProfile& profile);

// RFC 4648 section 4, with padding.
std::string encode_base64(std::string_view bytes);

}  // namespace bobbin::profile
