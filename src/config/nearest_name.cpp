// SPDX-License-Identifier: Apache-2.0
#include "config/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bobbin::config {
namespace {

// Letters typed wrong, left out, added or swapped with their neighbour: optimal string alignment.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> rows(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
            rows[i][j] =
                std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + changed});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::span<const std::string_view> names,
                                        std::string_view typed) {
    constexpr std::size_t kLongestTyped = 64;  // bounds the table above
    std::optional<std::string> best;
    std::size_t best_distance = 0;
    if (typed.size() > kLongestTyped) return best;
    for (const std::string_view name : names) {
        const std::size_t distance = edit_distance(typed, name);
        if (distance > std::max<std::size_t>(1, name.size() / 3)) continue;
        if (best && distance >= best_distance) continue;
        best = name;
        best_distance = distance;
    }
    return best;
}

}  // namespace bobbin::config
