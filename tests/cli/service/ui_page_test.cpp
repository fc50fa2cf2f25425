// SPDX-License-Identifier: Apache-2.0
// /ui/ in a real browser. The page gets one script more, under the name that its policy allows,
// which leaves its answer in the document.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "serve/http_server.h"
#include "service/http_routes.h"
#include "store/store.h"
#include "support/child_process.h"
#include "support/fake_control.h"
#include "support/small_profile.h"
#include "support/temporary_directory.h"

namespace bobbin::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kAnswerMark = "data-answer=\"";

class UiPage : public testing::Test {
protected:
    UiPage() : routes_(control_, (directory_ / "store").string()) {
        auto store = store::Store::open((directory_ / "store").string(),
                                        {.retention = std::chrono::days{7}, .max_bytes = 1 << 30});
        if (!store) {
            ADD_FAILURE() << store.error().message();
            return;
        }
        // 10 minutes ago one minute, 5 minutes ago another.
        const auto now = std::chrono::system_clock::now();
        for (const int minutes : {10, 5}) {
            EXPECT_TRUE(store->append(small_profile(now - std::chrono::minutes{minutes})));
        }
        control_.current.hz = control_.current.configured_hz = 19;
    }

    // What `script` gives back once the page has drawn itself; with key(), settle() and framed(),
    // the address of the profile below, which has been loaded.
    nlohmann::json answer_of(const std::string& script) {
        const std::string added =
            "(async () => { while (!document.body.dataset.ready) await new Promise(r => "
            "setTimeout(r, 50)); const key = (key, shiftKey = false) => "
            "document.getElementById('axis').dispatchEvent(new KeyboardEvent('keydown', {key, "
            "shiftKey, bubbles: true})); const settle = () => new Promise(r => setTimeout(r, "
            "1000)); const framed = () => document.getElementById('profile').src; let answer; "
            "try { answer = await (async () => {" +
            script +
            "})(); } catch (error) { answer = String(error); } "
            "document.body.dataset.answer = encodeURIComponent(JSON.stringify(answer)); })();";
        const auto server = serve::HttpServer::start(
            {},
            [&](const serve::HttpRequest& request) {
                serve::HttpAnswer answer = routes_.answer(request);
                const std::size_t end = answer.body.rfind("\n</script>\n</body>");
                if (request.path == "/ui/") answer.body.insert(end, "\n" + added);
                return answer;
            },
            {});
        if (!server) {
            ADD_FAILURE() << server.error().message();
            return {};
        }
        return read_answer(document_of("http://" + server->host() + "/ui/"));
    }

    TemporaryDirectory directory_;
    FakeControl control_;
    service::HttpRoutes routes_;

private:
    // Root's browser has no sandbox of its own.
    std::string document_of(const std::string& url) {
        const FinishedProcess browser = run_process(
            {"chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--user-data-dir=" + (directory_ / "browser").string(),
             "--window-size=1200,900", "--virtual-time-budget=30000", "--dump-dom", url});
        EXPECT_EQ(browser.exit_status, 0) << browser.standard_error;
        return browser.standard_output;
    }
    static nlohmann::json read_answer(const std::string& document) {
        const std::size_t begin = document.find(kAnswerMark);
        if (begin == std::string::npos) {
            ADD_FAILURE() << "the script gave no answer";
            return {};
        }
        const std::size_t at = begin + std::string(kAnswerMark).size();
        const std::string escaped = document.substr(at, document.find('"', at) - at);
        std::string text;
        for (std::size_t i = 0; i < escaped.size(); ++i) {
            if (escaped[i] != '%') {
                text += escaped[i];
                continue;
            }
            text += static_cast<char>(std::stoi(escaped.substr(i + 1, 2), nullptr, 16));
            i += 2;
        }
        return nlohmann::json::parse(text);
    }
};

// Two minutes of 4.5 CPU seconds each: 3.0 of the one unit, 1.5 of the other.
TEST_F(UiPage, ShowsWhatRanAndWhen) {
    const nlohmann::json answer = answer_of(R"(
        const {data} = ui.axis, sums = {};
        for (const one of data.series) sums[one.name] = one.cores.reduce((a, b) => a + b, 0) * data.step;
        await settle();
        return {sums, status: document.getElementById('status').textContent, framed: framed(),
                complaint: document.getElementById('error').textContent,
                legend: document.getElementById('legend').textContent};)");
    ASSERT_TRUE(answer.is_object()) << answer;
    EXPECT_NEAR(answer["sums"]["worker.service"], 6.0, 1e-6);
    EXPECT_NEAR(answer["sums"]["nginx.service"], 3.0, 1e-6);
    EXPECT_THAT(answer["status"].get<std::string>(), HasSubstr("19 Hz"));
    EXPECT_EQ(answer["complaint"], "");
    EXPECT_EQ(answer["legend"], "worker.servicenginx.service");
    EXPECT_THAT(answer["framed"].get<std::string>(), HasSubstr("/api/v1/profile?since=%40"));
}

TEST_F(UiPage, ChoosesARangeByKeysAndFiltersByUnit) {
    const nlohmann::json answer = answer_of(R"(
        const whole = ui.window(), every = framed();
        key('End');
        key('ArrowLeft', true);
        const step = ui.axis.data.step, times = ui.axis.times();
        await settle();
        const last = framed();
        ui.zoomIn();
        await settle();
        const zoomed = ui.axis.data.end - ui.axis.data.begin;
        ui.zoomOut();
        await settle();
        const out = ui.axis.data.end - ui.axis.data.begin;
        document.querySelectorAll('#legend button')[1].click();
        await settle();
        return {length: times.end - times.begin, step, every, last, zoomed, out,
                filtered: framed(), whole: whole.end - whole.begin,
                pprof: document.getElementById('pprof').href};)");
    ASSERT_TRUE(answer.is_object()) << answer;
    EXPECT_EQ(answer["length"], 2 * answer["step"].get<double>());
    EXPECT_NE(answer["last"], answer["every"]);
    EXPECT_LT(answer["zoomed"], answer["whole"]);
    EXPECT_GE(answer["out"], answer["whole"]);
    EXPECT_THAT(answer["filtered"].get<std::string>(), HasSubstr("&unit=nginx.service"));
    EXPECT_THAT(answer["pprof"].get<std::string>(), HasSubstr("&format=pprof"));
}

TEST_F(UiPage, FollowsWhatIsRecordedWhileLive) {
    const nlohmann::json answer = answer_of(R"(
        let asked = 0;
        ui.refresh = async () => { ++asked; };
        ui.setLive(false);
        ui.written = -1;
        await ui.watch();
        const off = asked;
        ui.setLive(true);
        ui.written = -1;
        await ui.watch();
        return {off, on: asked};)");
    ASSERT_TRUE(answer.is_object()) << answer;
    EXPECT_EQ(answer["off"], 0);
    EXPECT_GE(answer["on"], 1);
}

TEST_F(UiPage, ShowsForeignNamesAsText) {
    control_.current.paused_why = "<img src=x onerror=alert(1)>";
    const nlohmann::json answer = answer_of(R"(
        return {status: document.getElementById('status').textContent, images: document.images.length};)");
    ASSERT_TRUE(answer.is_object()) << answer;
    EXPECT_EQ(answer["status"].get<std::string>().rfind("paused: <img", 0), 0U);
    EXPECT_EQ(answer["images"], 0);
}

}  // namespace
}  // namespace bobbin::test
