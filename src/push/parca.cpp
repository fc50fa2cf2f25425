// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <utility>

#include "profile/html.h"
#include "profile/pprof.h"
#include "push/back_end.h"

namespace bobbin::push {

Result<std::vector<Request>> parca_requests(const Target& target, const std::vector<Series>& all) {
    nlohmann::json list = nlohmann::json::array();
    for (const Series& series : all) {
        BOBBIN_TRY(const std::string pprof, profile::encode_pprof(series.profile));
        nlohmann::json labels = {{{"name", "__name__"}, {"value", "process_cpu"}}};
        for (const auto& [name, value] : series.labels) {
            labels.push_back({{"name", name}, {"value", value}});
        }
        nlohmann::json sample = {{"rawProfile", profile::encode_base64(pprof)}};
        list.push_back({{"labels", {{"labels", std::move(labels)}}},
                        {"samples", nlohmann::json::array({std::move(sample)})}});
    }
    // Addresses are those of the files, wherever they were mapped.
    const nlohmann::json body = {{"normalized", true}, {"series", std::move(list)}};
    Request request{.url = endpoint(target.url, "/api/profiles/writeraw")};
    request.headers = {"Content-Type: application/json"};
    request.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return std::vector<Request>{std::move(request)};
}

}  // namespace bobbin::push
