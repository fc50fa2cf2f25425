// SPDX-License-Identifier: Apache-2.0
#include "push/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bobbin::push {
namespace {

struct KindName {
    std::string_view name;
    Target::Kind kind;
};
constexpr std::array kKinds{
    KindName{"pyroscope", Target::Kind::kPyroscope},
    KindName{"parca", Target::Kind::kParca},
    KindName{"otlp", Target::Kind::kOtlp},
    KindName{"s3", Target::Kind::kS3},
};
constexpr std::string_view kNewer = "push+";

}  // namespace

Result<Target> parse_target(std::string_view text) {
    constexpr std::string_view kBucket = "s3://";
    if (text.starts_with(kBucket)) {
        if (text.size() == kBucket.size()) return fail("it names no bucket");
        return Target{.kind = Target::Kind::kS3, .url = std::string(text)};
    }
    const auto* const known = std::ranges::find_if(kKinds, [&](const KindName& kind) {
        return text.starts_with(kind.name) && text.substr(kind.name.size()).starts_with('+');
    });
    if (known == kKinds.end()) {
        return fail("it begins with pyroscope+, pyroscope+push+, parca+, otlp+, s3+ or s3://");
    }
    text.remove_prefix(known->name.size() + 1);
    const bool is_newer = known->kind == Target::Kind::kPyroscope && text.starts_with(kNewer);
    if (is_newer) text.remove_prefix(kNewer.size());
    const bool is_http = text.starts_with("http://") || text.starts_with("https://");
    if (!is_http || text.ends_with("://")) {
        return fail("behind {}+ stands a URL like http://host:4040", known->name);
    }
    return Target{.kind = known->kind,
                  .url = is_newer ? endpoint(text, kPushPath) : std::string(text)};
}

std::string describe(const Target& target) {
    const auto* const kind = std::ranges::find(kKinds, target.kind, &KindName::kind);
    return fmt::format("{} {}", kind->name, target.url);
}

std::string endpoint(std::string_view url, std::string_view path) {
    while (url.ends_with('/')) url.remove_suffix(1);
    if (url.ends_with(path)) return std::string(url);
    return std::string(url).append(path);
}

}  // namespace bobbin::push
