// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/choose_victims.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace bobbin::unwind_feed {
namespace {

using std::chrono::seconds;
using Ids = std::vector<std::uint32_t>;

constexpr std::size_t kBucket = abi::BUCKET_WORDS;
constexpr seconds kNow{1000};

// A pool and who lives in it.
class Shelf {
public:
    explicit Shelf(std::size_t buckets) : pool_(buckets) {}

    Shelf& add(std::uint32_t id, std::size_t words, seconds unused_for, std::uint64_t heat) {
        const auto at = pool_.find_room(words);
        EXPECT_TRUE(at) << id;
        pool_.take(*at, words);
        occupants_.push_back({.executable_id = id,
                              .first_word = *at,
                              .word_count = words,
                              .last_used = kNow - unused_for,
                              .heat = heat});
        return *this;
    }
    [[nodiscard]] std::optional<Ids> victims(std::size_t words, std::uint64_t heat) const {
        const auto chosen =
            choose_victims(pool_, occupants_, {.word_count = words, .heat = heat}, kNow);
        if (!chosen) return std::nullopt;
        Ids ids;
        for (const Occupant& occupant : *chosen) ids.push_back(occupant.executable_id);
        return ids;
    }

private:
    WordPool pool_;
    std::vector<Occupant> occupants_;
};

TEST(ChooseVictims, LetsTheLeastRecentlySampledLeaveFirst) {
    Shelf shelf(1);
    for (std::uint32_t id = 10; id < 18; ++id) shelf.add(id, kBucket / 8, seconds{5000 - id}, 0);
    // An eighth for the newcomer and an eighth to be free afterwards.
    EXPECT_EQ(shelf.victims(kBucket / 8, 0), (Ids{10, 11}));
}

TEST(ChooseVictims, LetsNobodyLeaveWhoWasSampledLatelyForOneWhoWasNot) {
    Shelf shelf(1);
    shelf.add(2, kBucket / 2, seconds{1}, 0).add(3, kBucket / 2, seconds{2}, 16);
    EXPECT_EQ(shelf.victims(kBucket / 4, 0), std::nullopt);
}

TEST(ChooseVictims, PushesOutOnlyWhatIsSampledHalfAsOften) {
    Shelf shelf(1);
    shelf.add(2, kBucket / 2, seconds{1}, 1000).add(3, kBucket / 2, seconds{1}, 1600);
    EXPECT_EQ(shelf.victims(kBucket / 4, 1999), std::nullopt);
    EXPECT_EQ(shelf.victims(kBucket / 4, 2000), Ids{2});
    EXPECT_EQ(shelf.victims(kBucket, 5199), std::nullopt) << "both would have to go";
    EXPECT_EQ(shelf.victims(kBucket, 5200), (Ids{2, 3}));
}

TEST(ChooseVictims, TakesThoseFirstWhoseWordsAreWorthLeast) {
    Shelf shelf(1);
    shelf.add(2, kBucket / 4, seconds{1}, 100).add(3, kBucket / 2, seconds{1}, 120);
    shelf.add(4, kBucket / 4, seconds{1}, 100);
    EXPECT_EQ(shelf.victims(kBucket / 4, 1000), Ids{3});
}

TEST(ChooseVictims, SparesWhomItNeedNotPushOut) {
    Shelf shelf(2);
    // Whoever is worth least per word lies in the first bucket, but only the second one has enough.
    shelf.add(2, kBucket / 2, seconds{1}, 0).add(3, kBucket / 2, seconds{1}, 5000);
    shelf.add(4, kBucket, seconds{1}, 10);
    EXPECT_EQ(shelf.victims(kBucket, 1000), Ids{4});
}

TEST(ChooseVictims, HasNobodyLeaveForWhatNeverFits) {
    Shelf shelf(2);
    shelf.add(2, kBucket, seconds{500}, 0);
    EXPECT_EQ(shelf.victims(3 * kBucket, 1'000'000), std::nullopt);
}

}  // namespace
}  // namespace bobbin::unwind_feed
