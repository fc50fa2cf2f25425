// SPDX-License-Identifier: Apache-2.0
#include "executable/held_files.h"

#include <utility>
#include <vector>

namespace bobbin::executable {

void HeldFiles::add(const std::shared_ptr<HeldFile>& file, TimePoint now) {
    if (!file || !file->is_held()) return;
    const FileStatus& status = file->status();
    const bool lasts = !status.has_name || status.device == limits_.never_unmounted_device;
    const std::scoped_lock lock(mutex_);
    (lasts ? long_time_ : short_time_).push_back({file, now});
    make_room();
}

// Those that may be let go of lose their descriptor first, with nothing lost.
void HeldFiles::make_room() {
    while (short_time_.size() + long_time_.size() > limits_.max_count) {
        auto& from = short_time_.empty() ? long_time_ : short_time_;
        const auto file = from.front().file.lock();
        from.pop_front();
        if (file && !file->drop()) ++dropped_count_;
    }
}

// A file that cannot be let go of has only a container's path, and will have no other.
void HeldFiles::let_go_of_old(TimePoint now) {
    std::vector<Entry> old;
    {
        const std::scoped_lock lock(mutex_);
        while (!short_time_.empty() && short_time_.front().since + limits_.hold_for <= now) {
            old.push_back(std::move(short_time_.front()));
            short_time_.pop_front();
        }
    }
    for (Entry& entry : old) {
        const auto file = entry.file.lock();
        if (!file || file->let_go()) continue;
        const std::scoped_lock lock(mutex_);
        long_time_.push_back(std::move(entry));
    }
}

HeldFiles::TimePoint HeldFiles::next_due() const {
    const std::scoped_lock lock(mutex_);
    if (short_time_.empty()) return TimePoint::max();
    return short_time_.front().since + limits_.hold_for;
}

std::size_t HeldFiles::held_count() const {
    const std::scoped_lock lock(mutex_);
    return short_time_.size() + long_time_.size();
}

std::uint64_t HeldFiles::dropped_count() const {
    const std::scoped_lock lock(mutex_);
    return dropped_count_;
}

}  // namespace bobbin::executable
