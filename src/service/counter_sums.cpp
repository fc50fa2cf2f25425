// SPDX-License-Identifier: Apache-2.0
#include "service/counter_sums.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace bobbin::service {
namespace {

using Words = std::array<std::uint64_t, sizeof(abi::outcome_counters) / sizeof(std::uint64_t)>;
static_assert(sizeof(Words) == sizeof(abi::outcome_counters), "it has counters only");

template <class Operation>
abi::outcome_counters combine(const abi::outcome_counters& a, const abi::outcome_counters& b,
                              Operation operation) {
    auto words = std::bit_cast<Words>(a);
    const auto others = std::bit_cast<Words>(b);
    for (std::size_t i = 0; i < words.size(); ++i)
        words.at(i) = operation(words.at(i), others.at(i));
    return std::bit_cast<abi::outcome_counters>(words);
}

template <class Operation>
daemon::ResumedWalks combine(const daemon::ResumedWalks& a, const daemon::ResumedWalks& b,
                             Operation operation) {
    daemon::ResumedWalks result{.displaced_count = operation(a.displaced_count, b.displaced_count)};
    for (std::size_t i = 0; i < result.by_walk_end.size(); ++i) {
        result.by_walk_end.at(i) = operation(a.by_walk_end.at(i), b.by_walk_end.at(i));
    }
    return result;
}

}  // namespace

abi::outcome_counters sum(const abi::outcome_counters& a, const abi::outcome_counters& b) {
    return combine(a, b, std::plus<std::uint64_t>{});
}

abi::outcome_counters difference(const abi::outcome_counters& later,
                                 const abi::outcome_counters& earlier) {
    return combine(later, earlier, std::minus<std::uint64_t>{});
}

daemon::ResumedWalks sum(const daemon::ResumedWalks& a, const daemon::ResumedWalks& b) {
    return combine(a, b, std::plus<std::uint64_t>{});
}

daemon::ResumedWalks difference(const daemon::ResumedWalks& later,
                                const daemon::ResumedWalks& earlier) {
    return combine(later, earlier, std::minus<std::uint64_t>{});
}

}  // namespace bobbin::service
