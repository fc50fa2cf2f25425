// SPDX-License-Identifier: Apache-2.0
#include "service/ui_page.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "serve/page_server.h"
#include "service/profile_answer.h"
#include "service/ui_page_text.h"

namespace bobbin::service {
namespace {

std::string replace_all(std::string_view text, std::string_view place, std::string_view value) {
    std::string filled;
    for (std::size_t at = text.find(place); at != std::string_view::npos; at = text.find(place)) {
        filled.append(text.substr(0, at)).append(value);
        text.remove_prefix(at + place.size());
    }
    return filled.append(text);
}

}  // namespace

serve::HttpAnswer ui_page() {
    const auto nonce = serve::make_token();
    if (!nonce) return refuse(500, nonce.error().message());
    serve::HttpAnswer answer{.content_type = "text/html; charset=utf-8",
                             .body = std::string(kUiPage)};
    for (const auto& [place, value] : std::array<std::pair<std::string_view, std::string_view>, 3>{
             {{"@STYLE@", kUiStyle}, {"@SCRIPT@", kUiScript}, {"@NONCE@", *nonce}}}) {
        answer.body = replace_all(answer.body, place, value);
    }
    answer.headers.add(
        "Content-Security-Policy",
        fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                    "connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; "
                    "base-uri 'none'; form-action 'none'",
                    *nonce));
    return answer;
}

}  // namespace bobbin::service
