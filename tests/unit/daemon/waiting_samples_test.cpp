// SPDX-License-Identifier: Apache-2.0
#include "daemon/waiting_samples.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "support/paused_record.h"

namespace bobbin::daemon {
namespace {

using namespace std::chrono_literals;
using Frames = std::vector<abi::frame_word>;

struct Finished {
    std::uint32_t tid;
    Frames kernel_frames;
    Frames user_frames;
    int walk_end;

    friend bool operator==(const Finished&, const Finished&) = default;
};
void PrintTo(const Finished& one, std::ostream* out) {
    *out << "thread " << one.tid << ", " << one.user_frames.size() << " frames, end "
         << one.walk_end;
}

// A sample of one kernel frame, 0x1000, that was paused behind `frames` at `awaited`.
std::vector<std::byte> paused_sample(std::uint32_t tid, const Frames& frames,
                                     std::uint32_t awaited) {
    abi::sample_header header{};
    header.tid = tid;
    header.kernel_frame_count = 1;
    header.user_frame_count = static_cast<__u16>(frames.size());
    header.walk_end = abi::WALK_END_FILE_NOT_READY;
    header.flags = abi::SAMPLE_HAS_PAUSED_WALK;
    test::PausedRecord paused;
    paused.walk.awaited_executable_id = awaited;
    paused.set_stack(0x7ffc00000000, std::array<std::uint64_t, 16>{});
    std::vector<std::byte> record;
    const abi::frame_word kernel_frame = 0x1000;
    test::append(record, std::as_bytes(std::span(&header, 1)));
    test::append(record, std::as_bytes(std::span(&kernel_frame, 1)));
    test::append(record, std::as_bytes(std::span(frames)));
    test::append(record, paused.bytes());
    return record;
}

class WaitingSamplesTest : public testing::Test {
protected:
    WaitingSamples::Steps steps() {
        return {.state_of = [this](std::uint32_t id) { return states_[id]; },
                .walk_on =
                    [this](user_walk::PausedWalk& walk, std::uint32_t most_frames) {
                        most_frames_ = most_frames;
                        return walk_on_(walk);
                    },
                .finished =
                    [this](const aggregate::RawSample& sample) {
                        finished_.push_back(
                            {.tid = sample.header->tid,
                             .kernel_frames = {sample.kernel_frames.begin(),
                                               sample.kernel_frames.end()},
                             .user_frames = {sample.user_frames.begin(), sample.user_frames.end()},
                             .walk_end = sample.header->walk_end});
                        EXPECT_EQ(sample.header->user_frame_count, sample.user_frames.size());
                        EXPECT_EQ(sample.header->flags & abi::SAMPLE_HAS_PAUSED_WALK, 0);
                    }};
    }

    std::map<std::uint32_t, abi::file_state> states_;
    std::function<user_walk::ContinuedWalk(user_walk::PausedWalk&)> walk_on_ =
        [](user_walk::PausedWalk&) {
            return user_walk::ContinuedWalk{.frames = {7, 8, 9}, .end = abi::WALK_END_BOTTOM};
        };
    std::uint32_t most_frames_ = 0;
    std::vector<Finished> finished_;
    WaitingSamples::Clock::time_point now_{1000s};
};

TEST_F(WaitingSamplesTest, AreWalkedOnWhenTheirFileIsReady) {
    WaitingSamples waiting(steps());
    ASSERT_TRUE(waiting.keep(paused_sample(1, {5, 6, 7}, 2), now_));
    waiting.look_again(now_ + 100ms);
    EXPECT_TRUE(finished_.empty());
    states_[2] = abi::FILE_READY;
    waiting.look_again(now_ + 200ms);
    // 7, the last one noted, comes once more.
    EXPECT_EQ(finished_,
              (std::vector<Finished>{{1, {0x1000}, {5, 6, 7, 8, 9}, abi::WALK_END_BOTTOM}}));
    EXPECT_EQ(waiting.count(), 0U);
    // 1,024 in all, of which two stand.
    EXPECT_EQ(most_frames_, 1022U);
}

TEST_F(WaitingSamplesTest, AreWalkedOnWhenTheirFileIsRefused) {
    walk_on_ = [](user_walk::PausedWalk&) {
        return user_walk::ContinuedWalk{.frames = {7}, .end = abi::WALK_END_FILE_REFUSED};
    };
    WaitingSamples waiting(steps());
    ASSERT_TRUE(waiting.keep(paused_sample(1, {7}, 2), now_));
    states_[2] = abi::FILE_REFUSED;
    waiting.look_again(now_);
    EXPECT_EQ(finished_, (std::vector<Finished>{{1, {0x1000}, {7}, abi::WALK_END_FILE_REFUSED}}));
}

TEST_F(WaitingSamplesTest, AreGivenUpWithWhatTheyHaveAfterTwoSeconds) {
    WaitingSamples waiting(steps());
    ASSERT_TRUE(waiting.keep(paused_sample(1, {5, 6}, 2), now_));
    ASSERT_TRUE(waiting.keep(paused_sample(2, {5, 6}, 2), now_ + 1ms));
    waiting.look_again(now_ + 1999ms);
    EXPECT_TRUE(finished_.empty());
    waiting.look_again(now_ + 2000ms);
    EXPECT_EQ(finished_,
              (std::vector<Finished>{{1, {0x1000}, {5, 6}, abi::WALK_END_FILE_NOT_READY}}));
    waiting.give_up();
    ASSERT_EQ(finished_.size(), 2U);
    EXPECT_EQ(finished_[1].tid, 2U);
    EXPECT_EQ(finished_[1].walk_end, abi::WALK_END_FILE_NOT_READY);
}

TEST_F(WaitingSamplesTest, WaitAnewForTheNextFile) {
    walk_on_ = [](user_walk::PausedWalk& walk) {
        if (walk.position.awaited_executable_id == 3) {
            return user_walk::ContinuedWalk{.frames = {7, 8}, .end = abi::WALK_END_BOTTOM};
        }
        walk.position.awaited_executable_id = 3;
        return user_walk::ContinuedWalk{.frames = {6, 7}, .end = abi::WALK_END_FILE_NOT_READY};
    };
    WaitingSamples waiting(steps());
    ASSERT_TRUE(waiting.keep(paused_sample(1, {6}, 2), now_));
    states_[2] = abi::FILE_READY;
    waiting.look_again(now_ + 1500ms);
    waiting.look_again(now_ + 3000ms);
    EXPECT_TRUE(finished_.empty());
    states_[3] = abi::FILE_READY;
    waiting.look_again(now_ + 3400ms);
    EXPECT_EQ(finished_, (std::vector<Finished>{{1, {0x1000}, {6, 7, 8}, abi::WALK_END_BOTTOM}}));
}

TEST_F(WaitingSamplesTest, DoNotWaitForEverForATableThatComesAndGoes) {
    walk_on_ = [](user_walk::PausedWalk&) { return user_walk::ContinuedWalk{}; };
    WaitingSamples waiting(steps());
    ASSERT_TRUE(waiting.keep(paused_sample(1, {5, 6}, 2), now_));
    states_[2] = abi::FILE_READY;
    waiting.look_again(now_ + 1000ms);
    EXPECT_TRUE(finished_.empty());
    waiting.look_again(now_ + 2000ms);
    EXPECT_EQ(finished_,
              (std::vector<Finished>{{1, {0x1000}, {5, 6}, abi::WALK_END_FILE_NOT_READY}}));
}

TEST_F(WaitingSamplesTest, MakeRoomOldestFirst) {
    const auto record = paused_sample(1, {5}, 2);
    WaitingSamples waiting(steps(), {.bytes = 3 * (record.size() + 1000), .patience = 2s});
    for (std::uint32_t tid = 1; tid <= 20; ++tid) {
        ASSERT_TRUE(waiting.keep(paused_sample(tid, {5}, 2), now_));
    }
    // A record takes more than its own bytes, and less than 1,000 more.
    EXPECT_GE(waiting.count(), 3U);
    EXPECT_LT(waiting.count(), 3 * (record.size() + 1000) / record.size());
    ASSERT_EQ(finished_.size() + waiting.count(), 20U);
    EXPECT_EQ(waiting.displaced_count(), finished_.size());
    for (std::size_t i = 0; i < finished_.size(); ++i) EXPECT_EQ(finished_[i].tid, i + 1);
}

TEST_F(WaitingSamplesTest, AreNotKeptWithoutASoundPausedWalk) {
    WaitingSamples waiting(steps());
    auto record = paused_sample(1, {5}, 2);
    EXPECT_FALSE(waiting.keep(std::span(record).first(record.size() - 8), now_));
    EXPECT_FALSE(waiting.keep(paused_sample(1, {}, 2), now_));
    EXPECT_FALSE(waiting.keep(paused_sample(1, {5}, 0), now_));
    EXPECT_FALSE(waiting.keep(paused_sample(1, Frames(1025), 2), now_));
    reinterpret_cast<abi::sample_header*>(record.data())->walk_end = abi::WALK_END_BOTTOM;
    EXPECT_FALSE(waiting.keep(record, now_));
    waiting.give_up();
    EXPECT_TRUE(finished_.empty());
}

}  // namespace
}  // namespace bobbin::daemon
