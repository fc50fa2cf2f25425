// SPDX-License-Identifier: Apache-2.0
#include "service/http_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/report.h"
#include "cli/report_text.h"
#include "config/record_config.h"
#include "service/metrics_text.h"
#include "service/status_json.h"
#include "service/ui_page.h"
#include "store/cpu_sums.h"

namespace bobbin::service {
namespace {

using std::chrono::seconds;
using store::StoreReader;
using symbolize::NamedProfile;

constexpr const char* kJsonType = "application/json";
constexpr seconds kLongestCollection = std::chrono::minutes{10};
constexpr seconds kLongestBoost = std::chrono::hours{1};
constexpr std::uint32_t kMostPoints = 2000;
constexpr std::uint32_t kMostSeries = 100;

serve::HttpAnswer json(std::string text) {
    return {.content_type = kJsonType, .body = std::move(text)};
}

serve::HttpAnswer done(const Result<>& result) {
    if (!result) return refuse(422, result.error().message());
    return {.body = "done\n"};
}

Result<StoreReader::By> by_of(const serve::HttpFields& query) {
    const std::string* const text = query.find("by");
    if (text == nullptr || *text == "unit") return StoreReader::By::kUnit;
    if (*text == "process") return StoreReader::By::kComm;
    if (*text == "all") return StoreReader::By::kAll;
    return fail("by={}: there are unit, process and all", *text);
}

// So many seconds that the range has at most `points` steps. Where that is not less than the steps
// of the store's sums, whole ones of them, so that no segment has to be opened.
seconds step_of(const store::Range& range, std::uint32_t points) {
    constexpr seconds kSums = store::CpuSums::kStep;
    const auto all = std::chrono::ceil<seconds>(range.end - range.begin);
    const auto step = std::max(seconds{1}, seconds{(all.count() + points - 1) / points});
    return step <= kSums ? step : (step + kSums - seconds{1}) / kSums * kSums;
}

struct SeriesQuestion {
    store::Range range;
    seconds step;
    StoreReader::By by;
    std::uint32_t most;
};

// Steps begin at multiples of their length, so that the same ones come again a moment later.
Result<SeriesQuestion> read_series_question(const serve::HttpFields& query) {
    BOBBIN_TRY(store::Range range, read_range(query, std::chrono::system_clock::now()));
    BOBBIN_TRY(const std::uint32_t points, read_number(query, "points", 300, kMostPoints));
    BOBBIN_TRY(const StoreReader::By by, by_of(query));
    BOBBIN_TRY(const std::uint32_t most, read_number(query, "most", 12, kMostSeries));
    const seconds step = step_of(range, points);
    const auto since_epoch = std::chrono::floor<seconds>(range.begin).time_since_epoch();
    range.begin = store::Time(since_epoch - since_epoch % step);
    return SeriesQuestion{.range = range, .step = step, .by = by, .most = most};
}

}  // namespace

const HttpRoutes::Route* HttpRoutes::find_route(const Request& request, std::string& allowed) {
    static constexpr std::array kRoutes{
        Route{"GET", "/", &HttpRoutes::give_front_door},
        Route{"GET", "/metrics", &HttpRoutes::give_metrics},
        Route{"GET", "/-/healthy", &HttpRoutes::give_health},
        Route{"GET", "/-/ready", &HttpRoutes::give_readiness},
        Route{"GET", "/ui/", &HttpRoutes::give_page},
        Route{"GET", "/debug/pprof/profile", &HttpRoutes::collect},
        Route{"GET", "/api/v1/status", &HttpRoutes::give_status},
        Route{"GET", "/api/v1/segments", &HttpRoutes::give_segments},
        Route{"GET", "/api/v1/series", &HttpRoutes::give_series},
        Route{"GET", "/api/v1/profile", &HttpRoutes::give_profile},
        Route{"GET", "/api/v1/top", &HttpRoutes::give_top},
        Route{"POST", "/api/v1/boost", &HttpRoutes::boost},
        Route{"POST", "/api/v1/pause", &HttpRoutes::pause},
        Route{"POST", "/api/v1/resume", &HttpRoutes::resume},
        Route{"POST", "/api/v1/reload", &HttpRoutes::reload},
    };
    const auto* const route = std::find_if(kRoutes.begin(), kRoutes.end(), [&](const Route& known) {
        return known.path == request.path;
    });
    if (route == kRoutes.end()) return nullptr;
    allowed = route->method;
    const bool is_head = request.method == "HEAD" && route->method == "GET";
    return is_head || request.method == route->method ? route : nullptr;
}

serve::HttpAnswer HttpRoutes::answer(const Request& request) {
    if (is_from_elsewhere(request)) return refuse(403, "a page of another origin asks");
    std::string allowed;
    const Route* const route = find_route(request, allowed);
    if (route == nullptr && allowed.empty()) {
        return refuse(404,
                      "there are /metrics, /-/healthy, /-/ready, /debug/pprof/profile, "
                      "/api/v1/{status,segments,series,profile,top} and /ui/");
    }
    if (route == nullptr) {
        Answer refused = refuse(405, "this takes " + allowed);
        refused.headers.add("Allow", allowed);
        return refused;
    }
    const bool may_change =
        request.is_by_socket_file || request.headers.find("X-Bobbin") != nullptr;
    if (route->method == "POST" && !may_change) {
        return refuse(403, "by an address this takes the header X-Bobbin");
    }
    return (this->*route->answer)(request);
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): one kind of routes
serve::HttpAnswer HttpRoutes::give_front_door(const Request& /*request*/) {
    Answer answer{.status = 302, .body = {}};
    answer.headers.add("Location", "/ui/");
    return answer;
}

serve::HttpAnswer HttpRoutes::give_metrics(const Request& /*request*/) {
    return {.content_type = kMetricsType, .body = metrics_text(control_.status())};
}

// It answers, so it is; who does not answer is not.
serve::HttpAnswer HttpRoutes::give_health(const Request& /*request*/) {
    static_cast<void>(control_.status());
    return {.body = "healthy\n"};
}

serve::HttpAnswer HttpRoutes::give_readiness(const Request& /*request*/) {
    const Status status = control_.status();
    if (!status.paused_why.empty()) return refuse(503, "paused: " + status.paused_why);
    return {.body = "ready\n"};
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): one kind of routes
serve::HttpAnswer HttpRoutes::give_page(const Request& /*request*/) { return ui_page(); }

serve::HttpAnswer HttpRoutes::collect(const Request& request) {
    const auto where = read_where(request.query);
    if (!where) return refuse(400, where.error().message());
    const auto time = read_time(request.query, "seconds", seconds{10}, kLongestCollection);
    if (!time) return refuse(400, time.error().message());
    const auto profile = control_.collect(*time, *where, request.is_given_up);
    if (!profile) return refuse(503, profile.error().message());
    return answer_with(*profile, **find_format("pprof"));
}

serve::HttpAnswer HttpRoutes::give_status(const Request& /*request*/) {
    return json(status_json(control_.status()));
}

serve::HttpAnswer HttpRoutes::give_segments(const Request& request) {
    const auto range = read_range(request.query, std::chrono::system_clock::now());
    if (!range) return refuse(400, range.error().message());
    const auto reader = StoreReader::open(store_path_);
    if (!reader) return refuse(500, reader.error().message());
    const auto segments = reader->find(*range);
    return segments ? json(segments_json(*segments)) : refuse(500, segments.error().message());
}

serve::HttpAnswer HttpRoutes::give_series(const Request& request) {
    const auto asked = read_series_question(request.query);
    if (!asked) return refuse(400, asked.error().message());
    const auto reader = StoreReader::open(store_path_);
    if (!reader) return refuse(500, reader.error().message());
    const std::lock_guard turn(making_);
    const auto series = reader->series(asked->range, asked->step, asked->by, asked->most);
    if (!series) return refuse(500, series.error().message());
    return json(series_json(asked->range, asked->step, *series));
}

Result<NamedProfile> HttpRoutes::read(const ProfileQuestion& question) {
    if (question.last) return control_.last(*question.last, question.where);
    BOBBIN_TRY(const StoreReader reader, StoreReader::open(store_path_));
    return reader.read(question.range, question.where);
}

serve::HttpAnswer HttpRoutes::with_profile(const Request& request,
                                           const std::function<Answer(NamedProfile)>& give) {
    const auto question = read_profile_question(request.query, std::chrono::system_clock::now());
    if (!question) return refuse(400, question.error().message());
    const std::lock_guard turn(making_);
    if (request.is_given_up()) return refuse(503, "nobody waits for it");
    auto profile = read(*question);
    if (!profile) return refuse(500, profile.error().message());
    return give(std::move(*profile));
}

serve::HttpAnswer HttpRoutes::give_profile(const Request& request) {
    const std::string* const name = request.query.find("format");
    const auto format = find_format(name != nullptr ? *name : "pprof");
    if (!format) return refuse(400, format.error().message());
    return with_profile(
        request, [&](const NamedProfile& profile) { return answer_with(profile, **format); });
}

serve::HttpAnswer HttpRoutes::give_top(const Request& request) {
    const auto command = read_report(request.query);
    if (!command) return refuse(400, command.error().message());
    return with_profile(request, [&](NamedProfile profile) {
        return json(cli::to_json(cli::make_report(*command, std::move(profile))));
    });
}

serve::HttpAnswer HttpRoutes::boost(const Request& request) {
    const auto frequency =
        read_number(request.query, "frequency", 199, config::RecordConfig::kMaxFrequencyHz);
    if (!frequency) return refuse(400, frequency.error().message());
    const auto time = read_time(request.query, "duration", seconds{60}, kLongestBoost);
    if (!time) return refuse(400, time.error().message());
    return done(control_.boost(*frequency, *time));
}

serve::HttpAnswer HttpRoutes::pause(const Request& /*request*/) { return done(control_.pause()); }
serve::HttpAnswer HttpRoutes::resume(const Request& /*request*/) { return done(control_.resume()); }
serve::HttpAnswer HttpRoutes::reload(const Request& /*request*/) { return done(control_.reload()); }

}  // namespace bobbin::service
