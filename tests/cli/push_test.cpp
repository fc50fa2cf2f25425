// SPDX-License-Identifier: Apache-2.0
// `bobbin push` to servers that decode what they get by the published schemas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "profile/pprof.h"
#include "support/decode_pushes.h"
#include "support/fake_back_end.h"
#include "support/record_run.h"
#include "support/small_profile.h"

namespace bobbin::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Push : public testing::Test {
protected:
    void SetUp() override {
        const auto pprof = profile::encode_pprof(small_profile(store::test::kMorning));
        ASSERT_TRUE(pprof);
        std::ofstream(file_, std::ios::binary) << *pprof;
    }
    [[nodiscard]] FinishedProcess push(const std::string& url,
                                       std::vector<std::string> options = {}) const {
        std::vector<std::string> words{program_path(), "push", file_, "--to", url};
        words.insert(words.end(), options.begin(), options.end());
        return run_process(words);
    }

    TemporaryDirectory directory_;
    std::string file_ = directory_ / "profile.pb.gz";
    FakeBackEnd server_;
};

TEST_F(Push, SendsToParca) {
    std::ofstream(directory_ / "token") << "s3cret\n";
    const auto done = push("parca+" + server_.url(),
                           {"--label", "host=web1", "--bearer-file", directory_ / "token"});
    ASSERT_EQ(done.exit_status, 0) << done.standard_error;
    EXPECT_THAT(done.standard_error, HasSubstr("90 samples"));
    EXPECT_EQ(done.standard_output, "");
    const auto received = server_.wait_for(1);
    EXPECT_EQ(received[0].header("authorization"), "Bearer s3cret");
    const Pushed pushed = read_parca_write(received[0].body);
    EXPECT_THAT(pushed.samples, ElementsAre(Pair("nginx.service", 30), Pair("worker.service", 60)));
    EXPECT_EQ(pushed.labels.at("nginx.service").at("host"), "web1");
}

TEST_F(Push, SendsToPyroscope) {
    const auto done = push("pyroscope+" + server_.url());
    ASSERT_EQ(done.exit_status, 0) << done.standard_error;
    const auto received = server_.wait_for(2);
    std::vector<std::uint64_t> samples;
    for (const Received& request : received) {
        EXPECT_THAT(request.target, testing::StartsWith("/ingest?"));
        const Fields form = form_of(request.header("content-type"), request.body);
        const auto profile = profile::read_pprof(form.at("profile"));
        ASSERT_TRUE(profile) << profile.error().message();
        samples.push_back(profile->sample_count);
    }
    EXPECT_THAT(samples, ElementsAre(30, 60));
}

TEST_F(Push, SaysWhoDidNotTakeItAndWhy) {
    FakeBackEnd refusing([](const Received&) { return Answered{401, ""}; });
    const auto refused = push("parca+" + refusing.url());
    EXPECT_EQ(refused.exit_status, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("not taken by parca " + refusing.url()));
    EXPECT_THAT(refused.standard_error, HasSubstr("status 401"));
    const DeadPort nobody;
    const auto dead = push("pyroscope+" + nobody.url());
    EXPECT_EQ(dead.exit_status, 1);
    EXPECT_THAT(dead.standard_error, HasSubstr("Connection refused"));
}

TEST_F(Push, RefusesWordsThatItDoesNotUnderstand) {
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"--label", "host"}, {"--label", "1=x"}, {"--region", "r"}}) {
        EXPECT_EQ(push("parca+" + server_.url(), options).exit_status, 2) << options.back();
    }
    for (const char* url : {"http://h", "pyroscope+ftp://h", "parca+http://user:secret@h"}) {
        EXPECT_EQ(push(url).exit_status, 2) << url;
    }
    EXPECT_EQ(run_process({program_path(), "push", file_}).exit_status, 2);
    EXPECT_TRUE(server_.received().empty());
}

}  // namespace
}  // namespace bobbin::test
