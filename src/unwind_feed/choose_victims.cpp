// SPDX-License-Identifier: Apache-2.0
#include "unwind_feed/choose_victims.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace bobbin::unwind_feed {
namespace {

constexpr std::uint64_t kFreeAfterBatch = 8;  // an eighth of the pool
constexpr std::uint64_t kHotterBy = 2;
constexpr std::size_t kMaxSparingTrials = 64;

bool is_cold(const Occupant& occupant, std::chrono::nanoseconds now) {
    return now - occupant.last_used >= kColdAfter;
}

// Cold ones by age, then the others by what a word of them is worth.
std::vector<Occupant> in_order_of_leaving(std::span<const Occupant> occupants,
                                          std::chrono::nanoseconds now) {
    std::vector<Occupant> order(occupants.begin(), occupants.end());
    std::ranges::sort(order, [now](const Occupant& a, const Occupant& b) {
        const bool a_is_cold = is_cold(a, now);
        const bool b_is_cold = is_cold(b, now);
        if (a_is_cold != b_is_cold) return a_is_cold;
        if (a_is_cold) {
            return std::tuple(a.last_used, a.executable_id) <
                   std::tuple(b.last_used, b.executable_id);
        }
        return a.heat * b.word_count < b.heat * a.word_count;
    });
    return order;
}

class Choice {
public:
    Choice(WordPool pool, const Newcomer& newcomer, std::chrono::nanoseconds now)
        : pool_(std::move(pool)), newcomer_(newcomer), now_(now) {}

    void offer(const Occupant& occupant) {
        if (is_cold(occupant, now_) ? wants_more_cold() : may_push_out(occupant)) let_go(occupant);
    }

    [[nodiscard]] bool has_room() const {
        return pool_.find_room(newcomer_.word_count).has_value();
    }
    [[nodiscard]] const std::vector<Occupant>& leaving() const { return leaving_; }

private:
    [[nodiscard]] bool wants_more_cold() const {
        const std::uint64_t free = pool_.capacity_words() - pool_.words_taken();
        return free < newcomer_.word_count + pool_.capacity_words() / kFreeAfterBatch ||
               !has_room();
    }

    [[nodiscard]] bool may_push_out(const Occupant& occupant) const {
        return !has_room() && newcomer_.heat > 0 &&
               (heat_leaving_ + occupant.heat) * kHotterBy <= newcomer_.heat;
    }

    void let_go(const Occupant& occupant) {
        pool_.release(occupant.first_word, occupant.word_count);
        leaving_.push_back(occupant);
        if (!is_cold(occupant, now_)) heat_leaving_ += occupant.heat;
    }

    WordPool pool_;  // as it will be
    Newcomer newcomer_;
    std::chrono::nanoseconds now_;
    std::vector<Occupant> leaving_;
    std::uint64_t heat_leaving_ = 0;
};

// Those that had to be pushed out but lie elsewhere than where the room is now, stay.
std::vector<Occupant> spare_needless(const WordPool& pool, std::vector<Occupant> leaving,
                                     const Newcomer& newcomer, std::chrono::nanoseconds now) {
    std::size_t trials = 0;
    for (std::size_t i = leaving.size(); i-- > 0;) {
        if (is_cold(leaving[i], now) || ++trials > kMaxSparingTrials) break;
        WordPool without = pool;
        for (std::size_t k = 0; k < leaving.size(); ++k) {
            if (k != i) without.release(leaving[k].first_word, leaving[k].word_count);
        }
        if (without.find_room(newcomer.word_count)) {
            leaving.erase(leaving.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    return leaving;
}

}  // namespace

std::optional<std::vector<Occupant>> choose_victims(const WordPool& pool,
                                                    std::span<const Occupant> occupants,
                                                    const Newcomer& newcomer,
                                                    std::chrono::nanoseconds now) {
    if (newcomer.word_count > pool.capacity_words()) return std::nullopt;
    Choice choice(pool, newcomer, now);
    for (const Occupant& occupant : in_order_of_leaving(occupants, now)) choice.offer(occupant);
    if (!choice.has_room()) return std::nullopt;
    return spare_needless(pool, choice.leaving(), newcomer, now);
}

}  // namespace bobbin::unwind_feed
