// SPDX-License-Identifier: Apache-2.0
#include "daemon/build_budget.h"

namespace bobbin::daemon {

std::optional<BuildBudget::Share> BuildBudget::take(std::uint64_t bytes,
                                                    const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const std::uint64_t turn = arrived_++;
    const std::uint64_t most = max_bytes_ - reserve_bytes_;
    const auto may_begin = [&] {
        const bool fits = bytes <= most && taken_bytes_ <= most - bytes;
        return served_ == turn && (taken_bytes_ == 0 || fits);
    };
    // Who gives up keeps his turn: `stop` comes to all, so nobody waits behind him.
    const bool has_come = changed_.wait(lock, stop, may_begin);
    if (has_come) {
        taken_bytes_ += bytes;
        ++served_;
    }
    lock.unlock();
    changed_.notify_all();
    return has_come ? std::optional(Share(this, bytes)) : std::nullopt;
}

std::optional<BuildBudget::Share> BuildBudget::take_reserved(std::uint64_t bytes,
                                                             const std::stop_token& stop) {
    if (bytes <= reserve_bytes_) return Share(nullptr, bytes);
    return take(bytes, stop);
}

std::uint64_t BuildBudget::waiting_count() const {
    const std::scoped_lock lock(mutex_);
    return arrived_ - served_;
}

void BuildBudget::give_back(std::uint64_t bytes) {
    {
        const std::scoped_lock lock(mutex_);
        taken_bytes_ -= bytes;
    }
    changed_.notify_all();
}

}  // namespace bobbin::daemon
