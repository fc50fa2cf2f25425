// SPDX-License-Identifier: Apache-2.0
#include "config/service_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/parse_number.h"

namespace bobbin::config {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::string_view kListenForms =
    "it takes unix:/path/to/socket, or an address of this machine alone with a port, like "
    "127.0.0.1:7273 or [::1]:7273; \"\" for none";

std::string_view problem_of_socket(std::string_view path) {
    if (!path.starts_with('/')) return "the path of a socket begins with /";
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
        return "the path of a socket has at most 107 bytes";
    }
    return {};
}

bool is_port(std::string_view text) { return parse_number<std::uint16_t>(text).value_or(0) != 0; }

bool is_loopback(const std::string& host) {
    in_addr four{};
    if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
    if (host.size() < 2 || host.front() != '[' || host.back() != ']') return false;
    in6_addr six{};
    return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six) == 1 &&
           IN6_IS_ADDR_LOOPBACK(&six);
}

bool is_printable(char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; }

// RFC 9110 section 5.6.2.
bool is_token_character(char c) {
    constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
}

}  // namespace

std::string_view problem_of_listen(std::string_view listen) {
    if (listen.empty()) return {};
    if (listen.starts_with(kUnixPrefix)) {
        return problem_of_socket(listen.substr(kUnixPrefix.size()));
    }
    const std::size_t colon = listen.rfind(':');
    if (colon == std::string_view::npos || !is_port(listen.substr(colon + 1)) ||
        !is_loopback(std::string(listen.substr(0, colon)))) {
        return kListenForms;
    }
    return {};
}

std::string_view problem_of_url(std::string_view url, bool is_s3) {
    const std::size_t scheme_end = url.find("://");
    const std::string_view scheme = url.substr(0, std::min(scheme_end, url.size()));
    const bool is_known = scheme == "http" || scheme == "https" || (is_s3 && scheme == "s3");
    if (scheme_end == std::string_view::npos || !is_known) {
        return is_s3 ? "it takes a URL that begins with https://, http:// or s3://"
                     : "it takes a URL that begins with https:// or http://";
    }
    if (!std::all_of(url.begin(), url.end(), is_printable)) return "a URL has no blanks";
    const std::string_view after = url.substr(scheme_end + 3);
    const std::string_view authority = after.substr(0, after.find_first_of("/?#"));
    if (authority.empty()) return "it names no host";
    if (authority.find('@') != std::string_view::npos) {
        return "a URL is shown in logs and metrics; secrets belong into a file (bearer_file, "
               "credentials_file)";
    }
    return {};
}

std::string_view problem_of_header(std::string_view name, std::string_view value) {
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_token_character)) {
        return "the name of a header has letters, digits and dashes";
    }
    const auto is_bad = [](char c) { return c != ' ' && c != '\t' && !is_printable(c); };
    if (std::any_of(value.begin(), value.end(), is_bad)) {
        return "a header is one line";
    }
    return {};
}

std::string_view problem_of_label(std::string_view name, std::string_view /*value*/) {
    const auto is_letter = [](char c) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    const auto is_fit = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    if (name.empty() || !is_letter(name.front()) ||
        !std::all_of(name.begin(), name.end(), is_fit)) {
        return "the name of a label has letters, digits and _, and begins with no digit";
    }
    return {};
}

}  // namespace bobbin::config
