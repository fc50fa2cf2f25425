// SPDX-License-Identifier: Apache-2.0
// The page in a real browser, which says what it shows by its document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

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

// Of the table of functions, which the one with the most samples of its own leads.
std::string first_function_of(const std::string& document) {
    const std::size_t table = document.find("<tbody><tr>");
    const std::size_t begin = document.find("<button title=\"", table);
    if (table == std::string::npos || begin == std::string::npos) return {};
    const std::size_t name = document.find('>', begin) + 1;
    return document.substr(name, document.find('<', name) - name);
}

TEST(HtmlPage, ShowsInABrowserWhatWasRecorded) {
    const TemporaryDirectory directory;
    const std::filesystem::path page = directory / "profile.html";
    record(directory, {"-F", "499", "-o", page}, {fixture_path("known_chain.gcc.pie"), "2"});
    ASSERT_TRUE(std::filesystem::exists(page));
    const std::string document = document_of(page, directory);
    EXPECT_THAT(document, HasSubstr("data-ready=\"yes\""));
    EXPECT_THAT(first_function_of(document), HasSubstr("chain_25"));
    EXPECT_THAT(document, HasSubstr("chain_01("));
    EXPECT_THAT(document, HasSubstr("Stacks "));  // the summary
}

}  // namespace
}  // namespace bobbin::test
