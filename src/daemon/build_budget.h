// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace bobbin::daemon {

// Memory that builders may take together. Who wants more than is left waits, in order of arrival;
// who wants more than all of it works alone. Any thread; lives longer than all shares.
class BuildBudget {
public:
    explicit BuildBudget(std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max())
        : max_bytes_(max_bytes), reserve_bytes_(max_bytes / kReservedPart) {}

    // Given back at the end of its life.
    class Share {
    public:
        Share(Share&& other) noexcept
            : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
        Share& operator=(Share&& other) noexcept {
            std::swap(budget_, other.budget_);
            std::swap(bytes_, other.bytes_);
            return *this;
        }
        ~Share() {
            if (budget_ != nullptr) budget_->give_back(bytes_);
        }

    private:
        friend class BuildBudget;
        Share(BuildBudget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
        BuildBudget* budget_;  // null: out of the reserve, or moved from
        std::uint64_t bytes_;
    };

    // Waits until there is room; nullopt once `stop` is requested.
    std::optional<Share> take(std::uint64_t bytes, const std::stop_token& stop);
    // For the one builder of small files, who is never to wait behind a large one: a quarter is
    // his.
    std::optional<Share> take_reserved(std::uint64_t bytes, const std::stop_token& stop);
    [[nodiscard]] std::uint64_t waiting_count() const;

private:
    static constexpr std::uint64_t kReservedPart = 4;

    void give_back(std::uint64_t bytes);

    const std::uint64_t max_bytes_;
    const std::uint64_t reserve_bytes_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::uint64_t taken_bytes_ = 0;  // of what is not the reserve
    std::uint64_t arrived_ = 0;
    std::uint64_t served_ = 0;  // whose turn it is
};

}  // namespace bobbin::daemon
