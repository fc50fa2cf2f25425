// SPDX-License-Identifier: Apache-2.0
#include "push/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "profile/pprof.h"
#include "support/decode_pushes.h"
#include "support/fake_back_end.h"
#include "support/small_profile.h"
#include "support/temporary_directory.h"

namespace bobbin::push {
namespace {

using std::chrono::milliseconds;
using test::Answered;
using test::FakeBackEnd;
using test::Received;

// Of 90 samples, `index` minutes after kMorning.
std::string minute(int index) {
    const auto pprof = profile::encode_pprof(
        test::small_profile(store::test::kMorning + std::chrono::minutes{index}));
    EXPECT_TRUE(pprof);
    return *pprof;
}

bool eventually(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (!holds() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(milliseconds{1});
    }
    return holds();
}

class SenderTest : public testing::Test {
protected:
    SenderTest() {
        options_.directory = directory_ / "spool";
        options_.first_wait = milliseconds{1};
        options_.schedule = {.interval = milliseconds{5},
                             .least_retry = milliseconds{1},
                             .most_retry = milliseconds{5},
                             .most_asked_for = std::chrono::hours{1}};
    }
    std::unique_ptr<Sender> sender(const std::string& url) {
        target_.kind = Target::Kind::kParca;
        target_.url = url;
        return std::make_unique<Sender>(target_, Labels{{"host", "web1"}}, options_);
    }

    test::TemporaryDirectory directory_;
    Target target_;
    Sender::Options options_;
};

std::uint64_t sample_count(const Received& request) {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : test::read_parca_write(request.body).samples) sum += count;
    return sum;
}

TEST_F(SenderTest, SendsEachProfileOnceWithWhatAllowsIt) {
    FakeBackEnd server;
    const std::string token = directory_ / "token";
    std::ofstream(token) << "s3cret\n";
    target_.bearer_file = token;
    target_.headers["X-Scope-OrgID"] = "team-a";
    const auto sender = this->sender(server.url());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(sender->take(minute(i)));
    ASSERT_TRUE(eventually([&] { return sender->facts().sent_count == 3; }));
    const auto received = server.received();
    ASSERT_EQ(received.size(), 3U);
    for (const Received& request : received) {
        EXPECT_EQ(request.method, "POST");
        EXPECT_EQ(request.target, "/api/profiles/writeraw");
        EXPECT_EQ(request.header("authorization"), "Bearer s3cret");
        EXPECT_EQ(request.header("x-scope-orgid"), "team-a");
        EXPECT_EQ(sample_count(request), 90U);
    }
    EXPECT_EQ(sender->facts().sent_bytes,
              received[0].body.size() + received[1].body.size() + received[2].body.size());
    EXPECT_EQ(sender->facts().queued_count, 0U);
    EXPECT_EQ(sender->facts().dropped_count, 0U);
}

TEST_F(SenderTest, MergesThoseOfAnInterval) {
    {
        const test::DeadPort nobody;
        const auto before = this->sender(nobody.url());
        for (int i = 0; i < 4; ++i) ASSERT_TRUE(before->take(minute(i)));
    }
    FakeBackEnd server;
    options_.profiles_together = 3;
    const auto sender = this->sender(server.url());
    ASSERT_TRUE(eventually([&] { return sender->facts().sent_count == 4; }));
    const auto received = server.received();
    ASSERT_EQ(received.size(), 2U);
    EXPECT_EQ(sample_count(received[0]), 270U);
    EXPECT_EQ(sample_count(received[1]), 90U);
}

TEST_F(SenderTest, TriesAgainWhenToldTo) {
    std::atomic<int> count = 0;
    FakeBackEnd server([&](const Received&) -> std::optional<Answered> {
        constexpr int kStatuses[] = {503, 429, 408, 500};
        const int index = count++;
        if (index < 4) return Answered{kStatuses[index], "Retry-After: 0\r\n"};
        return Answered{};
    });
    const auto sender = this->sender(server.url());
    ASSERT_TRUE(sender->take(minute(0)));
    ASSERT_TRUE(eventually([&] { return sender->facts().sent_count == 1; }));
    EXPECT_EQ(server.received().size(), 5U);
    EXPECT_EQ(sender->facts().error_count, 4U);
    EXPECT_EQ(sender->facts().last_error, "");
}

TEST_F(SenderTest, ComesBackNoSoonerThanItWasAskedTo) {
    FakeBackEnd server([](const Received&) { return Answered{503, "Retry-After: 3600\r\n"}; });
    const auto sender = this->sender(server.url());
    ASSERT_TRUE(sender->take(minute(0)));
    ASSERT_TRUE(eventually([&] { return sender->facts().error_count == 1; }));
    // Retries come after 5 ms at most, where nothing is asked for; 100 of them would be through.
    FakeBackEnd other([](const Received&) { return Answered{503, ""}; });
    options_.directory = directory_ / "other";
    const auto control = this->sender(other.url());
    ASSERT_TRUE(control->take(minute(0)));
    ASSERT_TRUE(eventually([&] { return control->facts().error_count >= 100; }));
    EXPECT_EQ(sender->facts().error_count, 1U);
    EXPECT_EQ(sender->facts().queued_count, 1U);
}

TEST_F(SenderTest, DropsAndCountsWhatIsRefused) {
    FakeBackEnd server([](const Received& request) {
        return Answered{sample_count(request) == 90 ? 400 : 200, ""};
    });
    const auto sender = this->sender(server.url());
    ASSERT_TRUE(sender->take(minute(0)));
    ASSERT_TRUE(eventually([&] { return sender->facts().dropped_count == 1; }));
    EXPECT_EQ(server.received().size(), 1U);
    EXPECT_EQ(sender->facts().queued_count, 0U);
    EXPECT_EQ(sender->facts().last_error, "status 400");
}

TEST_F(SenderTest, DropsAndCountsWhatCannotBeRead) {
    FakeBackEnd server;
    const auto sender = this->sender(server.url());
    ASSERT_TRUE(sender->take("no profile"));
    ASSERT_TRUE(sender->take(minute(0)));
    ASSERT_TRUE(eventually([&] { return sender->facts().sent_count == 1; }));
    EXPECT_EQ(sender->facts().dropped_count, 1U);
}

// What a file may be that was not synced: empty, cut, of zeros where blocks were not written, and
// with a block of something else.
TEST_F(SenderTest, DropsAndCountsWhatALossOfPowerDamaged) {
    {
        const test::DeadPort nobody;
        const auto before = this->sender(nobody.url());
        for (int i = 0; i < 6; ++i) ASSERT_TRUE(before->take(minute(i)));
    }
    const auto damages = {
        +[](std::string&) {},
        +[](std::string& bytes) { bytes.clear(); },
        +[](std::string& bytes) { bytes.resize(bytes.size() / 2); },
        +[](std::string& bytes) { bytes.assign(bytes.size(), '\0'); },
        +[](std::string& bytes) { bytes.replace(bytes.size() / 2, 64, 64, '\0'); },
        +[](std::string& bytes) { bytes.append(512, '\0'); },
    };
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(options_.directory)) {
        files.insert(entry.path());
    }
    ASSERT_EQ(files.size(), damages.size());
    auto file = files.begin();
    for (const auto damage : damages) {
        std::string bytes = minute(0);
        damage(bytes);
        std::ofstream(*file++, std::ios::binary) << bytes;
    }
    FakeBackEnd server;
    const auto sender = this->sender(server.url());
    ASSERT_TRUE(sender->take(minute(6)));
    ASSERT_TRUE(eventually([&] { return sender->facts().sent_count == 2; }));
    EXPECT_EQ(sender->facts().dropped_count, 5U);
    EXPECT_EQ(sender->facts().queued_count, 0U);
    const auto received = server.received();
    ASSERT_EQ(received.size(), 2U);
    for (const Received& request : received) EXPECT_EQ(sample_count(request), 90U);
    EXPECT_TRUE(std::filesystem::is_empty(options_.directory));
}

TEST_F(SenderTest, GivesUpAServerThatNeverAnswersAndGoesOnAtTheNext) {
    FakeBackEnd server([count = 0](const Received&) mutable -> std::optional<Answered> {
        if (count++ == 0) return std::nullopt;
        return Answered{};
    });
    options_.deadlines.whole = milliseconds{200};
    const auto sender = this->sender(server.url());
    ASSERT_TRUE(sender->take(minute(0)));
    ASSERT_TRUE(eventually([&] { return sender->facts().sent_count == 1; }));
    EXPECT_GE(sender->facts().error_count, 1U);
}

// With a deadline that would fail the test.
TEST_F(SenderTest, EndsWhileAServerDoesNotAnswer) {
    FakeBackEnd server([](const Received&) { return std::nullopt; });
    options_.deadlines.whole = std::chrono::hours{1};
    {
        const auto sender = this->sender(server.url());
        ASSERT_TRUE(sender->take(minute(0)));
        ASSERT_EQ(server.wait_for(1).size(), 1U);
    }
    FakeBackEnd next;
    const auto sender = this->sender(next.url());
    ASSERT_TRUE(eventually([&] { return sender->facts().sent_count == 1; }));
}

TEST_F(SenderTest, KeepsWhatNobodyTakesUntilThereIsNoRoom) {
    const test::DeadPort nobody;
    options_.max_bytes = 3 * minute(0).size();
    const auto sender = this->sender(nobody.url());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(sender->take(minute(0)));
    EXPECT_EQ(sender->facts().queued_count, 3U);
    EXPECT_EQ(sender->facts().dropped_count, 2U);
    ASSERT_TRUE(eventually([&] { return sender->facts().error_count >= 2; }));
    EXPECT_EQ(sender->facts().sent_count, 0U);
    EXPECT_THAT(sender->facts().last_error, testing::HasSubstr("Connection refused"));
}

TEST_F(SenderTest, WaitsForATokenThatIsNotThereYet) {
    FakeBackEnd server;
    const std::string token = directory_ / "token";
    target_.bearer_file = token;
    const auto sender = this->sender(server.url());
    ASSERT_TRUE(sender->take(minute(0)));
    ASSERT_TRUE(eventually([&] { return sender->facts().error_count >= 1; }));
    EXPECT_EQ(server.received().size(), 0U);
    std::ofstream(token + ".new") << "s3cret";
    std::filesystem::rename(token + ".new", token);
    ASSERT_TRUE(eventually([&] { return sender->facts().sent_count == 1; }));
}

}  // namespace
}  // namespace bobbin::push
