// SPDX-License-Identifier: Apache-2.0
#include "daemon/pending_files.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <chrono>
#include <thread>

namespace bobbin::daemon {
namespace {

using Clock = std::chrono::steady_clock;

bool is_readable(int fd) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, 0) == 1;
}

// An opener that finds the ring buffer empty each time it is asked.
class IdleOpener {
public:
    explicit IdleOpener(PendingFiles& pending)
        : thread_([&pending](const std::stop_token& stop) {
              const std::stop_callback wake(stop, [&pending] { pending.wake(); });
              while (!stop.stop_requested()) {
                  pollfd waiting{.fd = pending.question_fd(), .events = POLLIN, .revents = 0};
                  ::poll(&waiting, 1, -1);
                  pending.answer(pending.take_questions());
              }
          }) {}

private:
    std::jthread thread_;
};

TEST(PendingFiles, AreNotDoneBeforeTheOpenerHasReadAll) {
    PendingFiles pending;
    EXPECT_FALSE(pending.wait_until_none(Clock::now())) << "nobody answered";
    EXPECT_TRUE(is_readable(pending.question_fd()));
    const IdleOpener opener(pending);
    EXPECT_TRUE(pending.wait_until_none(Clock::time_point::max()));
}

TEST(PendingFiles, AreDoneWhenTheLastIsPublished) {
    PendingFiles pending;
    const IdleOpener opener(pending);
    pending.add();
    pending.add();
    EXPECT_FALSE(pending.wait_until_none(Clock::now()));
    pending.finish(1);
    EXPECT_EQ(pending.count(), 1U);
    std::jthread publisher([&] { pending.finish(1); });
    EXPECT_TRUE(pending.wait_until_none(Clock::time_point::max()));
}

TEST(PendingFiles, TellThatSomethingWasFinished) {
    PendingFiles pending;
    pending.add();
    EXPECT_FALSE(is_readable(pending.finished_fd()));
    pending.finish(1);
    EXPECT_TRUE(is_readable(pending.finished_fd()));
    eventfd_t count = 0;
    EXPECT_EQ(::eventfd_read(pending.finished_fd(), &count), 0);
    EXPECT_FALSE(is_readable(pending.finished_fd()));
}

}  // namespace
}  // namespace bobbin::daemon
