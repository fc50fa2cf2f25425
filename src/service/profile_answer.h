// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "serve/http_message.h"
#include "symbolize/named_profile.h"

namespace bobbin::service {

// A format of a profile by its name in a query: pprof, html, folded, speedscope, firefox, perfetto.
struct ProfileFormat {
    std::string_view name;
    std::string_view content_type;
    std::string_view file_name;  // to save it under; empty: a browser shows it
    Result<std::string> (*encode)(const symbolize::NamedProfile&);
};

// Error: names the formats there are.
Result<const ProfileFormat*> find_format(std::string_view name);

// The page (html) may be framed by a page of the same origin alone.
serve::HttpAnswer answer_with(const symbolize::NamedProfile& profile, const ProfileFormat& format);

// A text with a line break behind it, which `go tool pprof` shows to its user.
serve::HttpAnswer refuse(unsigned status, std::string_view text);

}  // namespace bobbin::service
