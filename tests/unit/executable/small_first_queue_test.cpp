// SPDX-License-Identifier: Apache-2.0
#include "executable/small_first_queue.h"

#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <thread>

namespace bobbin::executable {
namespace {

using Queue = SmallFirstQueue<std::string>;
constexpr std::uint64_t kLarge = Queue::kMaxSmallBytes + 1;

TEST(SmallFirstQueue, GivesTheSmallestFirstAndEqualOnesInOrder) {
    Queue queue;
    const std::stop_token never;
    queue.push("large", 300);
    queue.push("first", 100);
    queue.push("second", 100);
    EXPECT_EQ(queue.pop(never), "first");
    EXPECT_EQ(queue.pop(never), "second");
    EXPECT_EQ(queue.pop(never), "large");
}

TEST(SmallFirstQueue, PassesALargeFileOverABoundedNumberOfTimes) {
    Queue queue;
    const std::stop_token never;
    queue.push("large", kLarge);
    for (std::uint64_t i = 0; i < Queue::kMaxPassed; ++i) {
        queue.push("small", 1);
        EXPECT_EQ(queue.pop(never), "small");
    }
    queue.push("small", 1);
    EXPECT_EQ(queue.pop(never), "large");
}

TEST(SmallFirstQueue, NeverGivesALargeFileToWhoTakesSmallOnes) {
    Queue queue;
    const std::stop_token never;
    queue.push("large", kLarge);
    for (std::uint64_t i = 0; i < 2 * Queue::kMaxPassed; ++i) {
        queue.push("small", Queue::kMaxSmallBytes);
        EXPECT_EQ(queue.pop_small(never), "small");
    }
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_FALSE(queue.pop_small(stopped.get_token()).has_value());
    EXPECT_EQ(queue.pop(never), "large");
}

TEST(SmallFirstQueue, WakesWhoeverTakesLargeFilesBesideOneWhoDoesNot) {
    Queue queue;
    std::stop_source stop_small;
    std::jthread small([&] { queue.pop_small(stop_small.get_token()); });
    const std::stop_token never;
    std::optional<std::string> got;
    std::jthread any([&] { got = queue.pop(never); });
    queue.push("large", kLarge);
    any.join();
    EXPECT_EQ(got, "large");
    stop_small.request_stop();
}

}  // namespace
}  // namespace bobbin::executable
