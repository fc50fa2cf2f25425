// SPDX-License-Identifier: Apache-2.0
#include "service/http_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "profile/read_pprof.h"
#include "serve/http_client.h"
#include "service/http_service.h"
#include "store/store.h"
#include "support/fake_control.h"
#include "support/small_profile.h"
#include "support/temporary_directory.h"

namespace bobbin::service {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string header(const serve::HttpAnswer& answer, const std::string& name) {
    const std::string* const value = answer.headers.find(name);
    return value != nullptr ? *value : "";
}

class HttpRoutesTest : public testing::Test {
protected:
    HttpRoutesTest() : routes_(control_, (directory_ / "store").string()) {
        control_.profile = test::small_profile(std::chrono::system_clock::now());
    }

    // A path, and what comes behind its question mark as pairs.
    static serve::HttpRequest request(
        const std::string& path,
        const std::vector<std::pair<std::string, std::string>>& query = {}) {
        serve::HttpRequest asked;
        asked.method = "GET";
        asked.path = path;
        asked.headers.add("Host", "127.0.0.1:7273");
        for (const auto& [name, value] : query) asked.query.add(name, value);
        return asked;
    }
    serve::HttpAnswer get(const std::string& path,
                          const std::vector<std::pair<std::string, std::string>>& query = {}) {
        return routes_.answer(request(path, query));
    }
    serve::HttpAnswer post(const std::string& path,
                           const std::vector<std::pair<std::string, std::string>>& query = {}) {
        serve::HttpRequest asked = request(path, query);
        asked.method = "POST";
        asked.is_by_socket_file = true;
        return routes_.answer(asked);
    }
    void fill_store(const symbolize::NamedProfile& profile) {
        auto store = store::Store::open((directory_ / "store").string(),
                                        {.retention = std::chrono::days{7}, .max_bytes = 1 << 30});
        ASSERT_TRUE(store) << store.error().message();
        const auto segment = store->append(profile);
        ASSERT_TRUE(segment) << segment.error().message();
    }

    test::TemporaryDirectory directory_;
    test::FakeControl control_;
    HttpRoutes routes_;
};

TEST_F(HttpRoutesTest, TellsHowItIs) {
    control_.current.hz = 19;
    EXPECT_EQ(get("/-/healthy").status, 200U);
    EXPECT_EQ(get("/-/ready").status, 200U);
    EXPECT_THAT(get("/metrics").body, HasSubstr("\nbobbin_sampling_hz 19\n"));
    EXPECT_EQ(get("/metrics").content_type, "text/plain; version=0.0.4; charset=utf-8");
    control_.current.paused_why = "kill switch";
    EXPECT_EQ(get("/-/healthy").status, 200U);
    EXPECT_EQ(get("/-/ready").status, 503U);
    EXPECT_THAT(get("/-/ready").body, HasSubstr("kill switch"));
    const Json status = Json::parse(get("/api/v1/status").body);
    EXPECT_EQ(status["hz"], 19);
    EXPECT_EQ(status["paused_why"], "kill switch");
    EXPECT_TRUE(status["stored"]["oldest"].is_null());
}

TEST_F(HttpRoutesTest, RefusesWhatThereIsNot) {
    EXPECT_EQ(get("/nothing").status, 404U);
    EXPECT_EQ(get("/ui").status, 404U);
    EXPECT_EQ(get("/api/v1/pause").status, 405U);
    EXPECT_EQ(header(get("/api/v1/pause"), "Allow"), "POST");
    EXPECT_EQ(post("/metrics").status, 405U);
    EXPECT_THAT(control_.calls(), ElementsAre());
}

TEST_F(HttpRoutesTest, ChangesOnlyWhatMayBeChanged) {
    serve::HttpRequest asked = request("/api/v1/pause");
    asked.method = "POST";
    EXPECT_EQ(routes_.answer(asked).status, 403U);
    asked.headers.add("Origin", "http://127.0.0.1:7273");
    EXPECT_EQ(routes_.answer(asked).status, 403U);
    EXPECT_THAT(control_.calls(), ElementsAre());
    asked.headers.add("X-Bobbin", "1");
    EXPECT_EQ(routes_.answer(asked).status, 200U);
    EXPECT_THAT(control_.calls(), ElementsAre("pause"));
}

TEST_F(HttpRoutesTest, AnswersNoPageOfAnotherOrigin) {
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"Origin", "http://evil.example"},
                                                          {"Origin", "null"},
                                                          {"Origin", "http://127.0.0.1:1"},
                                                          {"Sec-Fetch-Site", "cross-site"},
                                                          {"Sec-Fetch-Site", "same-site"}}) {
        serve::HttpRequest asked = request("/debug/pprof/profile");
        asked.is_by_socket_file = true;  // also through a tunnel
        asked.headers.add(name, value);
        EXPECT_EQ(routes_.answer(asked).status, 403U) << name << value;
    }
    EXPECT_THAT(control_.calls(), ElementsAre());
    serve::HttpRequest link = request("/ui/");
    link.headers.add("Sec-Fetch-Site", "cross-site");
    EXPECT_EQ(routes_.answer(link).status, 403U);
    link.headers.add("Sec-Fetch-Dest", "document");
    EXPECT_EQ(routes_.answer(link).status, 200U);
    serve::HttpRequest own = request("/api/v1/status");
    own.headers.add("Sec-Fetch-Site", "same-origin");
    EXPECT_EQ(routes_.answer(own).status, 200U);
}

TEST_F(HttpRoutesTest, HandsOnWhatIsToBeChanged) {
    EXPECT_EQ(post("/api/v1/boost", {{"frequency", "499"}, {"duration", "1m30s"}}).status, 200U);
    EXPECT_EQ(post("/api/v1/resume").status, 200U);
    EXPECT_EQ(post("/api/v1/reload").status, 200U);
    EXPECT_THAT(control_.calls(), ElementsAre("boost 499 90000 ms", "resume", "reload"));
    control_.outcome = fail("bobbin.toml:3:1: no such key");
    const serve::HttpAnswer refused = post("/api/v1/reload");
    EXPECT_EQ(refused.status, 422U);
    EXPECT_EQ(refused.body, "bobbin.toml:3:1: no such key\n");
}

TEST_F(HttpRoutesTest, RefusesABoostBeyondItsBounds) {
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"frequency", "0"},
                                                          {"frequency", "10001"},
                                                          {"frequency", "x"},
                                                          {"frequency", "-1"},
                                                          {"duration", "61m"},
                                                          {"duration", "soon"}}) {
        const serve::HttpAnswer answer = post("/api/v1/boost", {{name, value}});
        EXPECT_EQ(answer.status, 400U) << value;
        EXPECT_THAT(answer.body, HasSubstr(name + "=" + value));
    }
    EXPECT_THAT(control_.calls(), ElementsAre());
}

TEST_F(HttpRoutesTest, CollectsForAsLongAsAsked) {
    const serve::HttpAnswer answer =
        get("/debug/pprof/profile", {{"seconds", "30"}, {"unit", "nginx"}});
    ASSERT_EQ(answer.status, 200U) << answer.body;
    EXPECT_THAT(header(answer, "Content-Disposition"), HasSubstr("bobbin.pb.gz"));
    const auto profile = profile::read_pprof(answer.body);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->sample_count, control_.profile.sample_count);
    get("/debug/pprof/profile");
    EXPECT_EQ(get("/debug/pprof/profile", {{"seconds", "601"}}).status, 400U);
    EXPECT_THAT(control_.calls(),
                ElementsAre("collect 30000 ms of some samples", "collect 10000 ms"));
}

TEST_F(HttpRoutesTest, GivesProfilesOfTheLastMinutes) {
    const serve::HttpAnswer answer =
        get("/api/v1/profile", {{"last", "10m"}, {"format", "folded"}});
    EXPECT_THAT(answer.body, HasSubstr("worker;main;work 60\n"));
    EXPECT_THAT(control_.calls(), ElementsAre("last 600000 ms"));
    EXPECT_EQ(get("/api/v1/profile", {{"last", "forever"}}).status, 400U);
    const serve::HttpAnswer unknown = get("/api/v1/profile", {{"format", "svg"}});
    EXPECT_EQ(unknown.status, 400U);
    EXPECT_THAT(unknown.body, HasSubstr("there are pprof html folded"));
}

TEST_F(HttpRoutesTest, GivesProfilesOfTheStore) {
    fill_store(test::small_profile(std::chrono::system_clock::now() - std::chrono::minutes{10}));
    const serve::HttpAnswer all = get("/api/v1/profile", {{"format", "folded"}});
    EXPECT_THAT(all.body, HasSubstr("worker;main;work 60\n")) << all.status;
    EXPECT_THAT(all.body, HasSubstr("nginx;main;serve 30\n"));
    const serve::HttpAnswer one =
        get("/api/v1/profile", {{"format", "folded"}, {"unit", "nginx.service"}});
    EXPECT_THAT(one.body, HasSubstr("nginx;main;serve 30\n"));
    EXPECT_THAT(one.body, Not(HasSubstr("worker")));
    const serve::HttpAnswer page = get("/api/v1/profile", {{"format", "html"}});
    EXPECT_THAT(header(page, "Content-Security-Policy"), "frame-ancestors 'self'");
    EXPECT_EQ(get("/api/v1/profile", {{"since", "yesteryear"}}).status, 400U);
    EXPECT_EQ(get("/api/v1/profile", {{"until", "-2h"}}).status, 400U);
    EXPECT_EQ(get("/api/v1/profile", {{"where", "comm="}}).status, 400U);
    const Json segments = Json::parse(get("/api/v1/segments").body)["segments"];
    ASSERT_EQ(segments.size(), 1U);
    EXPECT_EQ(segments[0]["sample_count"], 90);
}

// 60 and 30 samples of 50 ms.
TEST_F(HttpRoutesTest, GivesCoresOverTime) {
    const auto begin = std::chrono::system_clock::now() - std::chrono::minutes{10};
    fill_store(test::small_profile(begin));
    const Json answer = Json::parse(get("/api/v1/series", {{"points", "60"}}).body);
    const double step = answer["step"];
    EXPECT_EQ(std::fmod(answer["begin"].get<double>(), step), 0);
    std::map<std::string, double> cpu_seconds;
    for (const Json& series : answer["series"]) {
        for (const Json& cores : series["cores"]) {
            cpu_seconds[series["name"]] += cores.get<double>() * step;
        }
        EXPECT_LE(series["cores"].size(), 61U);
    }
    EXPECT_NEAR(cpu_seconds["worker.service"], 3.0, 1e-6);
    EXPECT_NEAR(cpu_seconds["nginx.service"], 1.5, 1e-6);
    EXPECT_EQ(get("/api/v1/series", {{"by", "colour"}}).status, 400U);
    EXPECT_EQ(get("/api/v1/series", {{"points", "0"}}).status, 400U);
}

TEST_F(HttpRoutesTest, GivesATableLikeReport) {
    const Json answer = Json::parse(get("/api/v1/top", {{"last", "1m"}, {"top", "1"}}).body);
    EXPECT_EQ(answer["all"]["count"], 90);
    ASSERT_EQ(answer["rows"].size(), 1U);
    EXPECT_EQ(answer["rows"][0]["name"], "work");
    EXPECT_EQ(answer["rows"][0]["self"]["count"], 60);
    const Json units = Json::parse(get("/api/v1/top", {{"last", "1m"}, {"by", "unit"}}).body);
    EXPECT_EQ(units["rows"][0]["name"], "worker.service");
    EXPECT_EQ(get("/api/v1/top", {{"last", "1m"}, {"by", "colour"}}).status, 400U);
}

TEST_F(HttpRoutesTest, SaysThatTheStoreCannotBeRead) {
    for (const char* const path : {"/api/v1/profile", "/api/v1/segments", "/api/v1/series"}) {
        const serve::HttpAnswer answer = get(path);
        EXPECT_EQ(answer.status, 500U) << path;
        EXPECT_THAT(answer.body, HasSubstr((directory_ / "store").string()));
    }
}

TEST_F(HttpRoutesTest, LetsThePageRunItsOwnScriptAlone) {
    const serve::HttpAnswer page = get("/ui/");
    const std::string policy = header(page, "Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    const std::string begin = "script-src 'nonce-";
    const std::string nonce = policy.substr(policy.find(begin) + begin.size(), 32);
    EXPECT_THAT(page.body, HasSubstr("<script nonce=\"" + nonce + "\">"));
    EXPECT_THAT(page.body, Not(HasSubstr("@NONCE@")));
    EXPECT_THAT(page.body, Not(HasSubstr("http://")));
    EXPECT_THAT(page.body, Not(HasSubstr("https://")));
    EXPECT_THAT(header(get("/ui/"), "Content-Security-Policy"), Not(HasSubstr(nonce)));
}

TEST_F(HttpRoutesTest, AreServedWhereTheConfigurationSays) {
    const std::string socket = (directory_ / "x.sock").string();
    const auto service = HttpService::start("unix:" + socket, control_, "");
    ASSERT_TRUE(service) << service.error().message();
    EXPECT_EQ(service->place(), "unix:" + socket);
    const auto reply = serve::ask_http(
        {.url = "http://bobbin/api/v1/boost?duration=2s", .socket_file = socket, .method = "POST"});
    ASSERT_TRUE(reply) << reply.error().message();
    EXPECT_EQ(reply->status, 200U);
    EXPECT_THAT(control_.calls(), ElementsAre("boost 199 2000 ms"));
    const auto nobody = HttpService::start("", control_, "");
    ASSERT_TRUE(nobody);
    EXPECT_EQ(nobody->place(), "");
}

// That this ends is what is proven.
TEST_F(HttpRoutesTest, GiveUpACollectionWhenTheServiceStops) {
    control_.collects_until_given_up = true;
    const std::string socket = (directory_ / "x.sock").string();
    std::optional<Result<HttpService>> service(HttpService::start("unix:" + socket, control_, ""));
    ASSERT_TRUE(*service);
    std::thread asker([&] {
        static_cast<void>(
            serve::ask_http({.url = "http://bobbin/debug/pprof/profile", .socket_file = socket}));
    });
    while (control_.calls().empty()) std::this_thread::yield();
    service.reset();
    asker.join();
    EXPECT_THAT(control_.calls(), ElementsAre("collect 10000 ms", "given up"));
}

}  // namespace
}  // namespace bobbin::service
