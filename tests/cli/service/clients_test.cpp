// SPDX-License-Identifier: Apache-2.0
// What asks the service: the programs that others made, and `bobbin ctl`. The service is a control
// that samples nothing, behind the real server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "serve/http_client.h"
#include "service/http_service.h"
#include "support/child_process.h"
#include "support/fake_control.h"
#include "support/profile_readers.h"
#include "support/record_run.h"
#include "support/small_profile.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ServiceClients : public testing::Test {
protected:
    ServiceClients() { control_.profile = small_profile(std::chrono::system_clock::now()); }

    void listen(const std::string& place) {
        auto started =
            service::HttpService::start(place, control_, (directory_ / "store").string());
        ASSERT_TRUE(started) << started.error().message();
        service_.emplace(std::move(*started));
        configure(service_->place());
    }
    void listen_on_socket() { listen("unix:" + (directory_ / "x.sock").string()); }
    // As `place` of HttpService has it.
    void configure(std::string place) {
        if (place.starts_with("http://")) place = place.substr(7, place.size() - 8);
        std::ofstream(config()) << "[http]\nlisten = \"" << place << "\"\n";
    }
    [[nodiscard]] std::string config() const { return (directory_ / "bobbin.toml").string(); }
    [[nodiscard]] FinishedProcess ctl(std::vector<std::string> words) const {
        words.insert(words.begin(), {program_path(), "ctl"});
        words.insert(words.end(), {"--config", config()});
        return run_process(words);
    }

    TemporaryDirectory directory_;
    FakeControl control_;
    std::optional<service::HttpService> service_;
};

TEST_F(ServiceClients, GoToolPprofFetchesAProfile) {
    listen("127.0.0.1:0");
    const std::string text = run_pprof("-top", service_->place() + "debug/pprof/profile?seconds=7");
    EXPECT_THAT(text, AllOf(HasSubstr("work"), HasSubstr("serve"), HasSubstr("4.50s")));
    EXPECT_THAT(control_.calls(), ElementsAre("collect 7000 ms"));
}

TEST_F(ServiceClients, PromtoolHasNothingToSayOfTheMetrics) {
    listen_on_socket();
    control_.current.exports.push_back({.to = "pyroscope http://host:4040"});
    const auto metrics = serve::ask_http(
        {.url = "http://bobbin/metrics", .socket_file = (directory_ / "x.sock").string()});
    ASSERT_TRUE(metrics) << metrics.error().message();
    EXPECT_THAT(metrics->body, HasSubstr("# TYPE bobbin_sampling_hz gauge"));
    std::ofstream(directory_ / "metrics") << metrics->body;
    const FinishedProcess checked = run_process(
        {"sh", "-c", "promtool check metrics <\"$0\"", (directory_ / "metrics").string()});
    EXPECT_EQ(checked.exit_status, 0);
    EXPECT_EQ(checked.standard_output + checked.standard_error, "");
}

TEST_F(ServiceClients, CtlShowsTheStatus) {
    listen_on_socket();
    service::Status& status = control_.current;
    status.started = std::chrono::system_clock::now() - std::chrono::hours{2};
    status.configured_hz = 19;
    status.hz = 7;
    status.ticks_by_outcome[abi::TICK_EMITTED] = 2000;
    status.ticks_by_outcome[abi::TICK_RING_FULL] = 3;
    status.stacks_by_end[abi::WALK_END_BOTTOM] = 1990;
    status.stacks_by_end[abi::WALK_END_NO_CFI] = 10;
    status.cpu_percent = 0.25;
    status.stored.segment_count = 12;
    status.exports.push_back({.to = "parca http://h\x1b[2J", .last_error = "no route"});
    const FinishedProcess shown = ctl({"status"});
    EXPECT_EQ(shown.exit_status, 0) << shown.standard_error;
    EXPECT_THAT(shown.standard_output,
                AllOf(HasSubstr("7 Hz (19 configured; lowered to keep the budget)"),
                      HasSubstr("running for 2h00m"), HasSubstr("2,000 since its start, 3 lost"),
                      HasSubstr("99.5 % of the stacks complete"), HasSubstr("0.25 % of one CPU"),
                      HasSubstr("12 segments"), HasSubstr("parca http://h\\x1b[2J"),
                      HasSubstr("no route")));
    const FinishedProcess json = ctl({"status", "--json"});
    EXPECT_EQ(nlohmann::json::parse(json.standard_output)["ticks"]["ring_full"], 3);
}

TEST_F(ServiceClients, CtlWritesASnapshotInAnyFormat) {
    listen_on_socket();
    const std::string pprof = (directory_ / "a.pb.gz").string();
    const std::string folded = (directory_ / "a.folded").string();
    const FinishedProcess done = ctl({"snapshot", "--last", "5m", "-o", pprof, "-o", folded});
    EXPECT_EQ(done.exit_status, 0) << done.standard_error;
    EXPECT_EQ(read_whole_file(folded), "nginx;main;serve 30\nworker;main;work 60\n");
    EXPECT_THAT(run_pprof("-top", pprof), HasSubstr("4.50s"));
    EXPECT_THAT(control_.calls(), ElementsAre("last 300000 ms"));
}

TEST_F(ServiceClients, CtlChangesWhatItIsTold) {
    for (const char* const place : {"unix", "127.0.0.1:0"}) {
        service_.reset();
        place == std::string("unix") ? listen_on_socket() : listen(place);
        EXPECT_EQ(ctl({"pause"}).exit_status, 0) << place;
    }
    EXPECT_EQ(ctl({"resume"}).exit_status, 0);
    const FinishedProcess boosted = ctl({"boost", "-F", "499", "-d", "90s"});
    EXPECT_EQ(boosted.standard_output, "499 Hz for 1m30s\n");
    EXPECT_THAT(control_.calls(), ElementsAre("pause", "pause", "resume", "boost 499 90000 ms"));
    control_.outcome = fail("bobbin.toml:3:1: unknown key");
    const FinishedProcess refused = ctl({"reload"});
    EXPECT_EQ(refused.exit_status, 1);
    EXPECT_THAT(refused.standard_error,
                HasSubstr("the service refuses: bobbin.toml:3:1: unknown key"));
}

TEST_F(ServiceClients, CtlSaysWhyNobodyAnswers) {
    configure("unix:" + (directory_ / "none.sock").string());
    const FinishedProcess nobody = ctl({"status"});
    EXPECT_EQ(nobody.exit_status, 1);
    EXPECT_THAT(nobody.standard_error,
                AllOf(HasSubstr("no service answers"), HasSubstr("sudo systemctl start bobbin")));
    listen_on_socket();
    const FinishedProcess stranger =
        run_process({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program_path(),
                     "ctl", "status", "--config", config()});
    EXPECT_EQ(stranger.exit_status, 77) << stranger.standard_error;
    EXPECT_THAT(stranger.standard_error, HasSubstr("sudo usermod -aG bobbin $USER"));
}

TEST_F(ServiceClients, CtlRefusesWhatItDoesNotUnderstand) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                  {"explode"},
                                                  {"pause", "now"},
                                                  {"snapshot"},
                                                  {"status", "--last", "1m"},
                                                  {"boost", "-F", "0"},
                                                  {"boost", "-d", "soon"}}) {
        EXPECT_EQ(ctl(words).exit_status, 2) << testing::PrintToString(words);
    }
    EXPECT_THAT(control_.calls(), ElementsAre());
}

}  // namespace
}  // namespace bobbin::test
