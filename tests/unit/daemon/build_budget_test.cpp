// SPDX-License-Identifier: Apache-2.0
#include "daemon/build_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stop_token>
#include <thread>

namespace bobbin::daemon {
namespace {

using Share = BuildBudget::Share;

// Of 400 bytes, 100 are the reserve.
TEST(BuildBudget, LetsBuildersWorkTogetherAsLongAsThereIsRoom) {
    BuildBudget budget(400);
    const std::optional<Share> first = budget.take(200, {});
    const std::optional<Share> second = budget.take(100, {});
    EXPECT_TRUE(first && second);
}

TEST(BuildBudget, HasWhoFindsNoRoomWaitUntilAShareIsGivenBack) {
    BuildBudget budget(400);
    std::optional<Share> first = budget.take(200, {});
    std::atomic<bool> was_given_back = false;
    std::jthread waiter([&] {
        const std::optional<Share> second = budget.take(101, {});
        EXPECT_TRUE(second.has_value());
        EXPECT_TRUE(was_given_back);
    });
    while (budget.waiting_count() == 0) std::this_thread::yield();
    was_given_back = true;
    first.reset();
}

TEST(BuildBudget, HasWhatIsLargerThanAllOfItBuiltAlone) {
    BuildBudget budget(400);
    std::optional<Share> large = budget.take(5'000, {});
    ASSERT_TRUE(large.has_value());
    std::atomic<bool> was_given_back = false;
    std::jthread small([&] {
        EXPECT_TRUE(budget.take(1, {}).has_value());
        EXPECT_TRUE(was_given_back);
    });
    while (budget.waiting_count() == 0) std::this_thread::yield();
    was_given_back = true;
    large.reset();
}

// However many small ones come, a large one is not left waiting for ever.
TEST(BuildBudget, ServesInOrderOfArrival) {
    BuildBudget budget(400);
    std::optional<Share> first = budget.take(200, {});
    std::atomic<bool> large_was_served = false;
    std::jthread large([&] {
        const std::optional<Share> share = budget.take(5'000, {});
        large_was_served = share.has_value();
    });
    while (budget.waiting_count() == 0) std::this_thread::yield();
    std::jthread small([&] {
        const std::optional<Share> share = budget.take(1, {});
        EXPECT_TRUE(large_was_served) << "there was room all the time";
    });
    while (budget.waiting_count() == 1) std::this_thread::yield();
    first.reset();
}

TEST(BuildBudget, KeepsAQuarterForTheBuilderOfSmallFiles) {
    BuildBudget budget(400);
    const std::optional<Share> all_and_more = budget.take(5'000, {});
    EXPECT_TRUE(budget.take_reserved(100, {}).has_value());
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(budget.take_reserved(101, stop.get_token()).has_value()) << "it would wait";
}

TEST(BuildBudget, EndsTheWaitWhenAskedToStop) {
    BuildBudget budget(400);
    const std::optional<Share> all = budget.take(300, {});
    std::stop_source stop;
    std::jthread waiter([&] { EXPECT_FALSE(budget.take(1, stop.get_token()).has_value()); });
    while (budget.waiting_count() == 0) std::this_thread::yield();
    stop.request_stop();
}

}  // namespace
}  // namespace bobbin::daemon
