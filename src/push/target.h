// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bobbin::push {

// Of series; what tells threads and processes apart stays with the samples.
using Labels = std::map<std::string, std::string>;

// Who takes profiles, and what he wants to see first.
struct Target {
    enum class Kind { kPyroscope, kParca, kOtlp, kS3 };
    Kind kind = Kind::kPyroscope;
    std::string url;          // "https://host:4040", with or without the path of the API
    std::string bearer_file;  // token in a file; "": none
    std::map<std::string, std::string> headers;
    // S3: the bucket's region, and a file with "ACCESS_KEY:SECRET_KEY".
    std::string region = "us-east-1";
    std::string credentials_file;
};

// One HTTP request to a target, without what it is allowed by (send_request.h).
struct Request {
    std::string method = "POST";
    std::string url;
    std::vector<std::string> headers;  // "Name: value"
    std::string body;
};

// "pyroscope+http://host:4040", "pyroscope+push+https://host" for its newer API,
// "parca+http://...", "otlp+https://...", "s3+https://host/bucket/prefix", "s3://bucket/prefix".
Result<Target> parse_target(std::string_view text);

// "parca http://host:7070"; no secrets are in it.
std::string describe(const Target& target);

// `url` with the path of an API behind it, unless that is there already.
std::string endpoint(std::string_view url, std::string_view path);

// Pyroscope's newer API, chosen by its path in the URL.
inline constexpr std::string_view kPushPath = "/push.v1.PusherService/Push";

}  // namespace bobbin::push
