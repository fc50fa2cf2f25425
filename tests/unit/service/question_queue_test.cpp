// SPDX-License-Identifier: Apache-2.0
#include "service/question_queue.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace bobbin::service {
namespace {

TEST(QuestionQueue, HasQuestionsAnsweredByTheThreadThatLooks) {
    const auto queue = std::move(*QuestionQueue::open());
    const auto asked_by = std::this_thread::get_id();
    std::thread::id answered_by;
    std::thread other([&] {
        const auto answer = queue->ask([&]() -> Result<int> {
            answered_by = std::this_thread::get_id();
            return 42;
        });
        ASSERT_TRUE(answer);
        EXPECT_EQ(*answer, 42);
    });
    pollfd waiting{.fd = queue->fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&waiting, 1, -1), 1);
    queue->answer_all();
    other.join();
    EXPECT_EQ(answered_by, asked_by);
    EXPECT_EQ(::poll(&waiting, 1, 0), 0);
}

TEST(QuestionQueue, RefusesQuestionsOnceItIsClosed) {
    const auto queue = std::move(*QuestionQueue::open());
    queue->refuse_more();
    EXPECT_FALSE(queue->ask([]() -> Result<int> { return 42; }));
}

}  // namespace
}  // namespace bobbin::service
