// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "serve/http_message.h"
#include "service/control.h"
#include "service/http_query.h"
#include "service/profile_answer.h"
#include "store/store.h"

namespace bobbin::service {

// What the service answers; any thread.
//   GET  /metrics  /-/healthy  /-/ready  /ui/
//   GET  /debug/pprof/profile?seconds=10&unit=&where=
//   GET  /api/v1/status  segments?since&until  series?since&until&by=unit&points=300
//   GET  /api/v1/profile?since&until&unit&where&format=pprof  or  ?last=10m&..., the open segment
//   too GET  /api/v1/top?since&until&unit&where&by=function&top=30 POST
//   /api/v1/boost?frequency=199&duration=60s  pause  resume  reload
// By an address of this machine a POST needs the header X-Bobbin, which a page of another origin
// cannot send; by the socket file, its mode is the right. Refusals are a line of text.
class HttpRoutes {
public:
    HttpRoutes(Control& control, std::string store_path)
        : control_(control), store_path_(std::move(store_path)) {}

    serve::HttpAnswer answer(const serve::HttpRequest& request);

private:
    using Request = serve::HttpRequest;
    using Answer = serve::HttpAnswer;
    struct Route {
        std::string_view method;
        std::string_view path;
        Answer (HttpRoutes::*answer)(const Request&);
    };
    static const Route* find_route(const Request& request, std::string& allowed);

    Answer give_front_door(const Request& request);
    Answer give_metrics(const Request& request);
    Answer give_health(const Request& request);
    Answer give_readiness(const Request& request);
    Answer give_page(const Request& request);
    Answer collect(const Request& request);
    Answer give_status(const Request& request);
    Answer give_segments(const Request& request);
    Answer give_series(const Request& request);
    Answer give_profile(const Request& request);
    Answer give_top(const Request& request);
    Answer boost(const Request& request);
    Answer pause(const Request& request);
    Answer resume(const Request& request);
    Answer reload(const Request& request);

    Result<symbolize::NamedProfile> read(const ProfileQuestion& question);
    Answer with_profile(const Request& request,
                        const std::function<Answer(symbolize::NamedProfile)>& give);

    Control& control_;
    std::string store_path_;
    // Profiles are made one after the other: one takes memory in proportion to its range.
    std::mutex making_;
};

}  // namespace bobbin::service
