// SPDX-License-Identifier: Apache-2.0
#include "push/back_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/decode_pushes.h"
#include "support/small_profile.h"

namespace bobbin::push {
namespace {

using symbolize::SampleLabels;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

const Labels kLabels{{"host", "web1"}};

std::vector<Request> requests_of(const std::string& url, const symbolize::NamedProfile& profile) {
    const auto target = parse_target(url);
    EXPECT_TRUE(target) << url;
    auto requests = make_requests(*target, profile, kLabels);
    EXPECT_TRUE(requests);
    return std::move(*requests);
}

// 60 samples of worker.service and 30 of nginx.service; kMorning is 1795343400.
symbolize::NamedProfile minute() { return test::small_profile(store::test::kMorning); }

TEST(ServiceName, IsTheUnitElseTheContainerElseTheProcess) {
    SampleLabels labels{.comm = "postgres"};
    EXPECT_EQ(service_name({}), "unknown");
    EXPECT_EQ(service_name(labels), "postgres");
    labels.container = "0123456789ab";
    EXPECT_EQ(service_name(labels), "0123456789ab");
    labels.unit = "db.service";
    EXPECT_EQ(service_name(labels), "db.service");
}

TEST(SplitByService, GivesEachServiceItsSamplesAndWhatTheyReferTo) {
    const auto all = split_by_service(minute(), kLabels);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_THAT(all[0].labels,
                ElementsAre(Pair("host", "web1"), Pair("service_name", "nginx.service")));
    EXPECT_EQ(all[0].profile.sample_count, 30U);
    EXPECT_EQ(all[1].profile.sample_count, 60U);
    std::vector<std::string> names;
    for (const auto& function : all[0].profile.functions) names.push_back(function.name);
    EXPECT_THAT(names, UnorderedElementsAre("serve", "main"));
    // pid and tid tell processes apart in the samples.
    EXPECT_EQ(all[0].profile.stacks.at(0).labels.pid, 2U);
}

TEST(PyroscopeRequests, IngestOneSeriesEach) {
    const auto requests = requests_of("pyroscope+http://p:4040/", minute());
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_EQ(requests[0].method, "POST");
    EXPECT_TRUE(requests[0].url.starts_with("http://p:4040/ingest?")) << requests[0].url;
    const test::Fields query = test::query_of(requests[0].url);
    EXPECT_EQ(query.at("name"), "nginx.service{host=web1,service_name=nginx.service}");
    EXPECT_EQ(query.at("from"), "1795343400");
    EXPECT_EQ(query.at("until"), "1795343460");
    EXPECT_EQ(query.at("format"), "pprof");
    ASSERT_EQ(requests[0].headers.size(), 1U);
    const test::Fields form = test::form_of(
        requests[0].headers[0].substr(std::string("Content-Type: ").size()), requests[0].body);
    const auto profile = profile::read_pprof(form.at("profile"));
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->sample_count, 30U);
    const auto types = nlohmann::json::parse(form.at("sample_type_config"));
    EXPECT_EQ(types.at("cpu").at("units"), "nanoseconds");
    EXPECT_EQ(form.size(), 2U);
}

TEST(PyroscopeRequests, KeepNamesThatTheServerWouldRefuseInALabel) {
    symbolize::NamedProfile profile = minute();
    profile.stacks.resize(1);
    profile.stacks[0].labels.unit = "getty@tty1.service";
    const test::Fields query = test::query_of(requests_of("pyroscope+http://p", profile).at(0).url);
    EXPECT_EQ(query.at("name"), "getty_tty1.service{host=web1,service_name=getty@tty1.service}");
}

TEST(PyroscopeRequests, PushAllSeriesInOneRequest) {
    const auto requests = requests_of("pyroscope+push+http://p:4040", minute());
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].url, "http://p:4040/push.v1.PusherService/Push");
    EXPECT_THAT(requests[0].headers, testing::Contains("Content-Type: application/json"));
    const test::Pushed pushed = test::read_pyroscope_push(requests[0].body);
    EXPECT_THAT(pushed.samples, ElementsAre(Pair("nginx.service", 30), Pair("worker.service", 60)));
    EXPECT_EQ(pushed.labels.at("nginx.service").at("host"), "web1");
}

TEST(ParcaRequests, WriteAllSeriesInOneRequest) {
    const auto requests = requests_of("parca+http://p:7070", minute());
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].url, "http://p:7070/api/profiles/writeraw");
    const test::Pushed pushed = test::read_parca_write(requests[0].body);
    EXPECT_THAT(pushed.samples, ElementsAre(Pair("nginx.service", 30), Pair("worker.service", 60)));
    EXPECT_EQ(pushed.labels.at("worker.service").at("host"), "web1");
}

TEST(S3Requests, PutTheWholeProfileUnderHostAndTime) {
    const auto requests = requests_of("s3+http://h:9000/bucket/a/", minute());
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].method, "PUT");
    EXPECT_EQ(test::decode_url(requests[0].url),
              "http://h:9000/bucket/a/host=web1/date=2026-11-22/103000.000.pb.gz");
    const auto profile = profile::read_pprof(requests[0].body);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->sample_count, 90U);
    EXPECT_TRUE(requests_of("s3://bucket/a", minute())[0].url.starts_with(
        "https://s3.us-east-1.amazonaws.com/bucket/a/host%3Dweb1/"));
}

TEST(MakeRequests, GiveNoneForNoSamples) {
    const symbolize::NamedProfile empty;
    for (const char* url : {"pyroscope+http://p", "parca+http://p", "s3://b"}) {
        EXPECT_TRUE(requests_of(url, empty).empty()) << url;
    }
}

TEST(MakeRequests, WriteNamesThatAreNoUtf8) {
    symbolize::NamedProfile profile = minute();
    profile.stacks[0].labels.unit = "caf\xe9.service";
    const auto requests = requests_of("parca+http://p", profile);
    EXPECT_EQ(test::read_parca_write(requests.at(0).body).samples.at("caf\xef\xbf\xbd.service"),
              60U);
}

TEST(ParseTarget, RefusesWhatItDoesNotKnow) {
    for (const char* url : {"", "http://p", "pyroscope://p", "pyroscope+ftp://p", "parca+http://",
                            "s3://", "parca+push+http://p"}) {
        EXPECT_FALSE(parse_target(url)) << url;
    }
}

}  // namespace
}  // namespace bobbin::push
