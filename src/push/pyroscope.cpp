// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "profile/html.h"
#include "profile/pprof.h"
#include "push/back_end.h"
#include "serve/http_client.h"

namespace bobbin::push {
namespace {

// Without it the server takes none of our sample types for CPU time.
constexpr std::string_view kSampleTypes =
    R"({"cpu":{"units":"nanoseconds","display-name":"cpu","aggregation":"sum","cumulative":false,)"
    R"("sampled":true},"samples":{"units":"samples","display-name":"samples","aggregation":"sum",)"
    R"("cumulative":false,"sampled":true}})";

// The server refuses an application's name with other characters (pkg/og/storage/segment/key.go).
bool is_allowed(char c) {
    constexpr std::string_view kOthers = "_-./";
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
}
std::string application_name(std::string_view service) {
    std::string name(service);
    std::ranges::replace_if(name, std::not_fn(is_allowed), '_');
    return name;
}

// "nginx.service{host=web1,service_name=nginx.service}": in there a value ends at , or }.
std::string name_with_labels(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels) {
        std::string fit = value;
        std::ranges::replace_if(
            fit, [](char c) { return c == ',' || c == '}' || c == '{' || c == '='; }, '_');
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, fit);
    }
    return fmt::format("{}{{{}}}", application_name(labels.at("service_name")), text);
}

// RFC 7578: a part a field; the boundary stands nowhere in them.
struct Form {
    std::string boundary;
    std::string body;
};
Form make_form(std::string_view pprof) {
    Form form{.boundary = "bobbin-0"};
    for (int i = 1; pprof.find(form.boundary) != std::string_view::npos; ++i) {
        form.boundary = fmt::format("bobbin-{}", i);
    }
    constexpr std::string_view kPart =
        "--{}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\n"
        "Content-Type: {}\r\n\r\n";
    form.body = fmt::format(fmt::runtime(kPart), form.boundary, "profile", "profile.pprof",
                            "application/octet-stream");
    form.body.append(pprof).append("\r\n");
    form.body += fmt::format(fmt::runtime(kPart), form.boundary, "sample_type_config",
                             "sample_type_config.json", "application/json");
    form.body.append(kSampleTypes).append("\r\n--").append(form.boundary).append("--\r\n");
    return form;
}

Result<Request> ingest_request(const Target& target, const Series& series) {
    const symbolize::NamedProfile& profile = series.profile;
    BOBBIN_TRY(const std::string pprof, profile::encode_pprof(profile));
    const auto seconds = [](std::chrono::system_clock::time_point time) {
        return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
    };
    const auto end =
        profile.started + std::chrono::ceil<std::chrono::system_clock::duration>(profile.duration);
    Form form = make_form(pprof);
    Request request;
    request.url = fmt::format("{}?name={}&from={}&until={}&format=pprof&spyName=bobbin",
                              endpoint(target.url, "/ingest"),
                              serve::escape_query(name_with_labels(series.labels)),
                              seconds(profile.started), seconds(end));
    request.headers = {"Content-Type: multipart/form-data; boundary=" + form.boundary};
    request.body = std::move(form.body);
    return request;
}

Result<Request> push_request(const Target& target, const std::vector<Series>& all) {
    nlohmann::json list = nlohmann::json::array();
    for (const Series& series : all) {
        BOBBIN_TRY(const std::string pprof, profile::encode_pprof(series.profile));
        // The metric that Pyroscope's own page looks for CPU time in.
        nlohmann::json labels = {{{"name", "__name__"}, {"value", "process_cpu"}}};
        for (const auto& [name, value] : series.labels) {
            labels.push_back({{"name", name}, {"value", value}});
        }
        nlohmann::json sample = {{"rawProfile", profile::encode_base64(pprof)}};
        list.push_back({{"labels", std::move(labels)},
                        {"samples", nlohmann::json::array({std::move(sample)})}});
    }
    Request request{.url = endpoint(target.url, kPushPath)};
    request.headers = {"Content-Type: application/json", "Connect-Protocol-Version: 1"};
    const nlohmann::json body = {{"series", std::move(list)}};
    request.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return request;
}

}  // namespace

Result<std::vector<Request>> pyroscope_requests(const Target& target,
                                                const std::vector<Series>& all) {
    std::vector<Request> requests;
    if (target.url.find(kPushPath) != std::string::npos) {
        BOBBIN_TRY(requests.emplace_back(), push_request(target, all));
        return requests;
    }
    for (const Series& series : all) {
        BOBBIN_TRY(requests.emplace_back(), ingest_request(target, series));
    }
    return requests;
}

}  // namespace bobbin::push
