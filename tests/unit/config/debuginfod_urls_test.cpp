// SPDX-License-Identifier: Apache-2.0
#include "config/debuginfod_urls.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "support/temporary_directory.h"

namespace bobbin::config {
namespace {

class FindDebuginfodUrls : public testing::Test {
protected:
    FindDebuginfodUrls() { ::unsetenv("DEBUGINFOD_URLS"); }
    ~FindDebuginfodUrls() override { ::unsetenv("DEBUGINFOD_URLS"); }

    test::TemporaryDirectory directory_;
};

TEST_F(FindDebuginfodUrls, TakesTheVariableFirst) {
    test::put_file(directory_ / "a.urls", "https://a.example");
    ::setenv("DEBUGINFOD_URLS", "http://one http://two", 1);
    EXPECT_EQ(find_debuginfod_urls(directory_.path()), "http://one http://two");
}

// sudo drops the variable; distributions write these files.
TEST_F(FindDebuginfodUrls, ReadsTheFilesOfDistributions) {
    test::put_file(directory_ / "b.urls", "https://b.example\nhttps://c.example\n");
    test::put_file(directory_ / "a.urls", "https://a.example");
    test::put_file(directory_ / "README", "https://no.example");
    EXPECT_EQ(find_debuginfod_urls(directory_.path()),
              "https://a.example https://b.example https://c.example");
}

TEST_F(FindDebuginfodUrls, FindsNoneWhereThereAreNone) {
    EXPECT_EQ(find_debuginfod_urls(directory_.path()), "");
    EXPECT_EQ(find_debuginfod_urls(directory_ / "missing"), "");
}

}  // namespace
}  // namespace bobbin::config
