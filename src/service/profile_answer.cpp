// SPDX-License-Identifier: Apache-2.0
#include "service/profile_answer.h"

#include <fmt/format.h>

#include <array>

#include "profile/firefox.h"
#include "profile/html.h"
#include "profile/perfetto.h"
#include "profile/pprof.h"
#include "profile/speedscope.h"

namespace bobbin::service {
namespace {

using symbolize::NamedProfile;

constexpr std::array kFormats{
    ProfileFormat{"pprof", "application/octet-stream", "bobbin.pb.gz",
                  [](const NamedProfile& profile) {
                      return profile::encode_pprof(profile, profile::Times::kKeep);
                  }},
    ProfileFormat{"html", "text/html; charset=utf-8", "",
                  [](const NamedProfile& profile) { return profile::encode_html(profile); }},
    ProfileFormat{"folded", "text/plain; charset=utf-8", "",
                  [](const NamedProfile& profile) {
                      return Result<std::string>(profile::encode_folded(profile));
                  }},
    ProfileFormat{"speedscope", "application/json", "bobbin.speedscope.json",
                  [](const NamedProfile& profile) {
                      return Result<std::string>(profile::encode_speedscope(profile));
                  }},
    ProfileFormat{"firefox", "application/json", "bobbin.firefox.json",
                  [](const NamedProfile& profile) {
                      return Result<std::string>(profile::encode_firefox(profile));
                  }},
    ProfileFormat{"perfetto", "application/octet-stream", "bobbin.pftrace",
                  [](const NamedProfile& profile) { return profile::encode_perfetto(profile); }},
};

}  // namespace

Result<const ProfileFormat*> find_format(std::string_view name) {
    std::string known;
    for (const ProfileFormat& format : kFormats) {
        if (format.name == name) return &format;
        known.append(known.empty() ? "" : " ").append(format.name);
    }
    return fail("format={}: there are {}", name, known);
}

serve::HttpAnswer answer_with(const NamedProfile& profile, const ProfileFormat& format) {
    auto bytes = format.encode(profile);
    if (!bytes) return refuse(500, bytes.error().message());
    serve::HttpAnswer answer{.content_type = std::string(format.content_type),
                             .body = std::move(*bytes)};
    if (!format.file_name.empty()) {
        answer.headers.add("Content-Disposition",
                           fmt::format("attachment; filename=\"{}\"", format.file_name));
    }
    if (format.name == "html") {
        answer.headers.add("Content-Security-Policy", "frame-ancestors 'self'");
    }
    return answer;
}

serve::HttpAnswer refuse(unsigned status, std::string_view text) {
    serve::HttpAnswer answer{.status = status, .body = std::string(text) + "\n"};
    // Without it `go tool pprof` prints the number alone (its internal/driver/fetch.go).
    answer.headers.add("X-Go-Pprof", "1");
    return answer;
}

}  // namespace bobbin::service
