// SPDX-License-Identifier: Apache-2.0
// `bobbin daemon` with every kind of back end at once: each gets every sample, whatever another one
// does.
#include <gtest/gtest.h>
#include <otlp_profiles.pb.h>
#include <poll.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "kernel/service_daemon.h"
#include "profile/gzip.h"
#include "profile/read_pprof.h"
#include "support/decode_pushes.h"
#include "support/fake_back_end.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

constexpr std::size_t kMaxBytes = 100'000'000;

std::uint64_t samples_of_pprof(const std::string& bytes) {
    const auto profile = profile::read_pprof(bytes);
    EXPECT_TRUE(profile) << (profile ? "" : profile.error().message());
    return profile ? profile->sample_count : 0;
}

std::uint64_t sum_of(const Pushed& pushed) {
    std::uint64_t sum = 0;
    for (const auto& [service, count] : pushed.samples) sum += count;
    return sum;
}

std::uint64_t ingested(const Received& request) {
    EXPECT_TRUE(request.target.starts_with("/ingest?")) << request.target;
    return samples_of_pprof(form_of(request.header("content-type"), request.body).at("profile"));
}
std::uint64_t pushed(const Received& request) { return sum_of(read_pyroscope_push(request.body)); }
std::uint64_t written_raw(const Received& request) {
    return sum_of(read_parca_write(request.body));
}
std::uint64_t put(const Received& request) {
    EXPECT_EQ(request.method, "PUT");
    EXPECT_TRUE(request.header("authorization").starts_with("AWS4-HMAC-SHA256 "));
    return samples_of_pprof(request.body);
}

// Values are times: each sample stands for the period.
std::uint64_t exported(const Received& request) {
    opentelemetry::proto::profiles::v1development::ExportProfilesServiceRequest message;
    EXPECT_EQ(request.target, "/v1development/profiles");
    const auto bytes = profile::gunzip(request.body, kMaxBytes);
    EXPECT_TRUE(bytes && message.ParseFromString(*bytes));
    std::int64_t samples = 0;
    for (const auto& resource : message.resource_profiles()) {
        for (const auto& profile : resource.scope_profiles(0).profiles()) {
            std::int64_t time = 0;
            for (const auto& sample : profile.samples()) time += sample.values(0);
            EXPECT_EQ(time % profile.period(), 0);
            samples += time / profile.period();
        }
    }
    return static_cast<std::uint64_t>(samples);
}

// Takes what one kind sends, and counts.
class Taker {
public:
    using Count = std::uint64_t (*)(const Received&);
    explicit Taker(Count count) : count_(count) {}

    [[nodiscard]] std::string url() const { return back_end_.url(); }
    [[nodiscard]] std::uint64_t samples() {
        const auto received = back_end_.received();
        for (; seen_ < received.size(); ++seen_) samples_ += count_(received[seen_]);
        return samples_;
    }

private:
    Count count_;
    std::size_t seen_ = 0;
    std::uint64_t samples_ = 0;
    FakeBackEnd back_end_;
};

std::string export_to(const std::string& type, const std::string& url,
                      const std::string& more = {}) {
    return "[[export]]\ntype = \"" + type + "\"\nurl = \"" + url + "\"\ninterval = \"2s\"\n" + more;
}

bool eventually(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + kGenerousTimeout;
    while (!holds() && std::chrono::steady_clock::now() < deadline) ::poll(nullptr, 0, 20);
    return holds();
}

// A back end that never answers is given up at the end: its request would last for 30 s.
TEST(ServiceExports, GiveEachBackEndEverySampleBesideOneThatHangs) {
    const TemporaryDirectory directory;
    const std::filesystem::path credentials = directory.write("credentials", "AKIA:secret\n");
    Taker ingest(ingested);
    Taker push(pushed);
    Taker parca(written_raw);
    Taker otlp(exported);
    Taker s3(put);
    FakeBackEnd hanging([](const Received&) { return std::nullopt; });
    ServiceDaemon daemon(
        directory, {.more = "[profile]\nfrequency = 199\n[budget]\ncpu_percent = 100\n" +
                            export_to("pyroscope", ingest.url()) +
                            export_to("pyroscope", push.url() + "/push.v1.PusherService/Push") +
                            export_to("parca", parca.url()) + export_to("otlp", otlp.url()) +
                            export_to("s3", s3.url() + "/bucket",
                                      "credentials_file = \"" + credentials.string() + "\"\n") +
                            export_to("parca", hanging.url())});
    ASSERT_TRUE(daemon.wait_until_it_samples());
    EXPECT_EQ(run_process({fixture_path("known_chain.gcc.pie"), "1"}).exit_status, 0);
    ASSERT_EQ(ctl(directory, {"pause"}).exit_status, 0);
    ASSERT_TRUE(daemon.wait_for_segment(
        [](const ProfileText& segment) { return accounting_of(segment)["ticks"] == 0; }));

    const std::uint64_t stored = sample_count_of(read_segments(directory));
    EXPECT_GT(stored, 0U);
    for (Taker* const taker : {&ingest, &push, &parca, &otlp, &s3}) {
        EXPECT_TRUE(eventually([&] { return taker->samples() >= stored; }));
        EXPECT_EQ(taker->samples(), stored);
    }
    ASSERT_FALSE(hanging.wait_for(1).empty());
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    expect_accounts_agree(read_segments(directory));
    // All that it did not take.
    std::size_t waiting = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(directory / "store" / "push")) {
        waiting += entry.is_regular_file() ? 1 : 0;
    }
    EXPECT_GE(waiting, 1U);
}

}  // namespace
}  // namespace bobbin::test
