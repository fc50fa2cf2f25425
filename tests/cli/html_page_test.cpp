// SPDX-License-Identifier: Apache-2.0
// The page in a real browser, which says what it shows by its document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "support/child_process.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

using testing::HasSubstr;

// The document when the page has drawn itself; root's browser has no sandbox of its own.
std::string document_of(const std::filesystem::path& page, const TemporaryDirectory& directory) {
    const FinishedProcess browser = run_process(
        {"chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--user-data-dir=" + (directory / "browser").string(), "--virtual-time-budget=60000",
         "--dump-dom", "file://" + page.string()});
    EXPECT_EQ(browser.exit_status, 0) << browser.standard_error;
    return browser.standard_output;
}

std::string decode_base64(const std::string& text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char digit : text) {
        const std::size_t value = kDigits.find(digit);
        if (value == std::string_view::npos) break;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    return bytes;
}

// Of the table of functions, which the one with the most samples of its own leads.
std::string first_function_of(const std::string& document) {
    const std::size_t table = document.find("<tbody><tr>");
    const std::size_t begin = document.find("<button title=\"", table);
    if (table == std::string::npos || begin == std::string::npos) return {};
    const std::size_t name = document.find('>', begin) + 1;
    return document.substr(name, document.find('<', name) - name);
}

// What `script`, run in the page when it has drawn itself, gives back: the page gets one script
// more, under the name that its policy allows, which leaves its answer in the document.
nlohmann::json answer_of(const std::filesystem::path& page, const std::string& script,
                         const TemporaryDirectory& directory) {
    std::ostringstream text;
    text << std::ifstream(page).rdbuf();
    std::string html = text.str();
    const std::size_t nonce = html.find("nonce=\"") + 7;
    const std::string name = html.substr(nonce, html.find('"', nonce) - nonce);
    const std::string added =
        "<script nonce=\"" + name +
        "\">(async () => { while (!document.body.dataset.ready) await new Promise(r => "
        "setTimeout(r, 50)); const key = (id, key, shiftKey = false) => "
        "document.getElementById(id).dispatchEvent(new KeyboardEvent('keydown', {key, shiftKey, "
        "bubbles: true})); const settle = () => new Promise(r => setTimeout(r, 500)); let answer; "
        "try { answer = await (async () => {" +
        script +
        "})(); } catch (error) { answer = String(error); } document.body.dataset.answer = "
        "btoa(JSON.stringify(answer)) + '.'; })();</script>";
    html.insert(html.rfind("</body>"), added);
    const std::filesystem::path scripted = directory / "scripted.html";
    std::ofstream(scripted) << html;
    const std::string document = document_of(scripted, directory);
    const std::string mark = "data-answer=\"";
    const std::size_t begin = document.find(mark);
    if (begin == std::string::npos) {
        ADD_FAILURE() << "the script gave no answer";
        return {};
    }
    const std::size_t at = begin + mark.size();
    return nlohmann::json::parse(decode_base64(document.substr(at, document.find('.', at) - at)));
}

TEST(HtmlPage, ShowsInABrowserWhatWasRecorded) {
    const TemporaryDirectory directory;
    const std::filesystem::path page = directory / "profile.html";
    record(directory, {"-F", "499", "-o", page}, {fixture_path("known_chain.gcc.pie"), "2"});
    ASSERT_TRUE(std::filesystem::exists(page));
    const std::string document = document_of(page, directory);
    EXPECT_THAT(document, HasSubstr("data-ready=\"yes\""));
    EXPECT_THAT(first_function_of(document), HasSubstr("chain_25"));
    EXPECT_THAT(document, HasSubstr("chain_01"));
    EXPECT_THAT(document, HasSubstr("Stacks "));  // the summary
}

// The range of time is chosen by keys; counts of all spans are those of the whole.
TEST(HtmlPage, FiltersByARangeOfTime) {
    const TemporaryDirectory directory;
    const std::filesystem::path page = directory / "profile.html";
    record(directory, {"-F", "499", "-o", page}, {fixture_path("known_chain.gcc.pie"), "2"});
    const nlohmann::json answer = answer_of(page, R"(
        const all = page.weights.all, known = page.heat.known, spans = page.model.sides[0].buckets;
        let sum = 0;
        for (let span = 0; span < spans; ++span)
            sum += weigh(page.model, page.model.sides[0], page.filter, {from: span, to: span}).all;
        key('heat', 'End');
        await settle();
        const last = page.weights.all, text = document.getElementById('heat-range').textContent;
        key('heat', 'Home', true);
        await settle();
        const every = page.weights.all;
        key('heat', 'Escape');
        await settle();
        return {all, known, sum, last, text, every, after: page.weights.all, range: page.range};)",
                                            directory);
    ASSERT_TRUE(answer.is_object()) << answer;
    EXPECT_TRUE(answer["known"]);
    EXPECT_GT(answer["all"], 100);
    EXPECT_EQ(answer["sum"], answer["all"]);
    EXPECT_LT(answer["last"], answer["all"]);
    EXPECT_THAT(answer["text"].get<std::string>(), HasSubstr(" to "));
    EXPECT_EQ(answer["every"], answer["all"]);
    EXPECT_EQ(answer["after"], answer["all"]);
    EXPECT_TRUE(answer["range"].is_null());
}

TEST(HtmlPage, IsUsedByKeysAlone) {
    const TemporaryDirectory directory;
    const std::filesystem::path page = directory / "profile.html";
    record(directory, {"-F", "499", "-o", page}, {fixture_path("known_chain.gcc.pie"), "2"});
    const nlohmann::json answer = answer_of(page, R"(
        key('flame', 'ArrowUp');
        key('flame', 'ArrowUp');
        const panel = !document.getElementById('panel').hidden;
        const facts = document.getElementById('panel-facts').textContent;
        key('flame', 'Enter');
        const zoomed = page.flame.zoomed > 0;
        key('flame', 's');
        const sandwich = !document.getElementById('sandwich-view').hidden;
        key('tab-sandwich', 'ArrowRight');
        const table = !document.getElementById('table-view').hidden;
        document.getElementById('search').value = '^chain_25';
        page.search();
        return {panel, facts, zoomed, sandwich, table,
                rows: document.querySelectorAll('#functions tbody tr').length,
                share: document.getElementById('search-share').textContent};)",
                                            directory);
    ASSERT_TRUE(answer.is_object()) << answer;
    EXPECT_TRUE(answer["panel"]);
    EXPECT_THAT(answer["facts"].get<std::string>(), HasSubstr(" samples, "));
    EXPECT_THAT(answer["facts"].get<std::string>(), HasSubstr(" cores"));
    EXPECT_TRUE(answer["zoomed"]);
    EXPECT_TRUE(answer["sandwich"]);
    EXPECT_TRUE(answer["table"]);
    EXPECT_EQ(answer["rows"], 1);
    EXPECT_THAT(answer["share"].get<std::string>(), HasSubstr("% of the samples"));
}

TEST(HtmlPage, ComparesTwoProfiles) {
    const TemporaryDirectory directory;
    const std::filesystem::path page = directory / "diff.html";
    const std::string base = (directory / "base.pb.gz").string();
    record(directory, {"-F", "499", "-o", base}, {fixture_path("known_chain.gcc.pie"), "1"});
    const RecordedRun run =
        record(directory, {"-F", "499"}, {fixture_path("known_chain.gcc.pie"), "1"});
    const FinishedProcess diff =
        run_process({program_path(), "diff", base, (directory / "profile.pb.gz").string(), "-o",
                     page.string()});
    EXPECT_EQ(diff.exit_status, 0) << diff.standard_error;
    EXPECT_THAT(diff.standard_output, HasSubstr("chain_25"));
    const nlohmann::json answer = answer_of(page, R"(
        const fresh = page.weights.all, base = page.others.all;
        const change = page.changeOf(page.flame.tree, 0);
        const changes = () => page.model.frames.map((frame, i) => page.table.changeOf(i));
        const before = changes();
        page.switchSide();
        const same = changes().every((value, i) => value === before[i]);
        return {fresh, base, change, switched: page.weights.all, same,
                changed: before.some(value => value !== 0),
                rows: document.querySelectorAll('#functions tbody td.grew, td.shrank').length};)",
                                            directory);
    ASSERT_TRUE(answer.is_object()) << answer;
    EXPECT_EQ(answer["fresh"], run.profile.sample_count());
    EXPECT_EQ(answer["switched"], answer["base"]);
    EXPECT_EQ(answer["change"], 0);
    EXPECT_TRUE(answer["changed"]);
    EXPECT_TRUE(answer["same"]) << "of whichever profile the widths are";
    EXPECT_GT(answer["rows"], 0);
}

TEST(HtmlPage, IsServedUntilCtrlC) {
    const TemporaryDirectory directory;
    record(directory, {"-F", "499"}, {fixture_path("known_chain.gcc.pie"), "1"});
    ChildProcess view({program_path(), "view", "--no-open", (directory / "profile.pb.gz").string()},
                      {{"SSH_CONNECTION", "192.0.2.1 5000 192.0.2.2 22"}});
    ASSERT_TRUE(view.wait_for_output("ssh -L "));
    view.send_signal(SIGINT);
    const FinishedProcess finished = view.wait();
    EXPECT_EQ(finished.exit_status, 0) << finished.standard_error;
    EXPECT_THAT(finished.standard_output, testing::StartsWith("http://127.0.0.1:"));
    EXPECT_THAT(finished.standard_output, HasSubstr("@192.0.2.2"));
}

}  // namespace
}  // namespace bobbin::test
