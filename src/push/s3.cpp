// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gnutls/crypto.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <string>
#include <utility>

#include "profile/pprof.h"
#include "push/back_end.h"
#include "serve/http_client.h"

namespace bobbin::push {
namespace {

std::string host_of(const Labels& labels) {
    if (const auto found = labels.find("host"); found != labels.end()) return found->second;
    std::array<char, 256> name{};  // HOST_NAME_MAX is 64
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

// What is signed is the path as S3 writes it: all but letters, digits and -._~ escaped.
std::string object_key(const symbolize::NamedProfile& profile, const Labels& labels) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(profile.started);
    const auto milliseconds =
        std::chrono::floor<std::chrono::milliseconds>(profile.started - seconds).count();
    const std::tm time = fmt::gmtime(std::chrono::system_clock::to_time_t(seconds));
    return fmt::format("{}/{}/{:%H%M%S}.{:03}.pb.gz",
                       serve::escape_query("host=" + host_of(labels)),
                       serve::escape_query(fmt::format("date={:%F}", time)), time, milliseconds);
}

// "s3://bucket/prefix" is AWS's own; the bucket stands in the path, because a name with dots has no
// certificate as a host.
std::string base_url(const Target& target) {
    constexpr std::string_view kBucket = "s3://";
    if (!target.url.starts_with(kBucket)) return endpoint(target.url, "/");
    return endpoint(fmt::format("https://s3.{}.amazonaws.com/{}", target.region,
                                target.url.substr(kBucket.size())),
                    "/");
}

// S3 demands the hash of the body in a header, which curl signs and 7.88 does not make by itself.
Result<std::string> sha256_in_hex(const std::string& bytes) {
    std::array<unsigned char, 32> digest{};
    const int code = gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes.data(), bytes.size(), digest.data());
    if (code != 0) return fail("SHA-256: {}", gnutls_strerror(code));
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace

Result<std::vector<Request>> s3_requests(const Target& target,
                                         const symbolize::NamedProfile& profile,
                                         const Labels& labels) {
    Request request{.method = "PUT", .url = base_url(target) + object_key(profile, labels)};
    BOBBIN_TRY(request.body, profile::encode_pprof(profile, profile::Times::kKeep));
    BOBBIN_TRY(const std::string digest, sha256_in_hex(request.body));
    request.headers = {"Content-Type: application/octet-stream", "x-amz-content-sha256: " + digest};
    return std::vector<Request>{std::move(request)};
}

}  // namespace bobbin::push
