// SPDX-License-Identifier: Apache-2.0
#include "profile/html.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "profile/gzip.h"
#include "profile/view_page.h"

namespace bobbin::profile {
namespace {

// The policy names the scripts that may run; 64 bits of a page that cannot change suffice.
std::uint64_t fnv1a(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : bytes) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
    return hash;
}

// Puts text in the places @NAME@ of the page, once through: what is put in is not looked at again.
std::string fill_in(std::string_view page,
                    const std::array<std::pair<std::string_view, std::string_view>, 5>& places) {
    std::string text;
    while (!page.empty()) {
        const std::size_t at = page.find('@');
        text += page.substr(0, at);
        if (at == std::string_view::npos) break;
        page.remove_prefix(at);
        std::size_t taken = 1;
        std::string_view put = page.substr(0, 1);
        for (const auto& [name, value] : places) {
            if (!page.starts_with(name)) continue;
            taken = name.size();
            put = value;
        }
        text += put;
        page.remove_prefix(taken);
    }
    return text;
}

Result<std::string> make_page(const std::string& title, const std::string& data) {
    BOBBIN_TRY(const std::string packed, gzip(data));
    const std::string nonce = fmt::format("{:016x}", fnv1a(packed));
    const std::string encoded = encode_base64(packed);
    return fill_in(kViewPage, {{{"@NONCE@", nonce},
                                {"@TITLE@", title},
                                {"@STYLE@", kViewStyle},
                                {"@SCRIPT@", kViewScript},
                                {"@PROFILE@", encoded}}});
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view group = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text += i <= group.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
        }
    }
    return text;
}

Result<std::string> encode_html(const symbolize::NamedProfile& profile) {
    return make_page(title_of(profile), encode_view_json(profile));
}

Result<std::string> encode_diff_html(const symbolize::NamedProfile& base,
                                     const symbolize::NamedProfile& profile) {
    return make_page("Difference to the " + title_of(base), encode_view_json(profile, &base));
}

}  // namespace bobbin::profile
