// SPDX-License-Identifier: Apache-2.0
#include "executable/unclaimed_files.h"

#include <algorithm>
#include <utility>

namespace bobbin::executable {

void UnclaimedFiles::add(UniqueFd fd, const FileStatus& status, TimePoint now) {
    const auto same = std::ranges::find_if(
        files_, [&](const File& file) { return is_same_file(file.status, status); });
    if (same != files_.end()) return;
    if (files_.size() == kMaxCount) files_.pop_front();
    files_.push_back({std::move(fd), status, now});
}

void UnclaimedFiles::expire(TimePoint now) {
    while (!files_.empty() && files_.front().since + kMaxAge <= now) files_.pop_front();
}

std::optional<UniqueFd> UnclaimedFiles::claim(const abi::file_key& key) {
    auto best = files_.end();
    KeyMatch best_match = KeyMatch::kNo;
    bool ambiguous = false;
    for (auto file = files_.begin(); file != files_.end(); ++file) {
        const KeyMatch found = match(key, file->status);
        if (found == KeyMatch::kNo || found < best_match) continue;
        ambiguous = found == best_match;
        best = file;
        best_match = found;
    }
    if (best == files_.end() || ambiguous) return std::nullopt;
    UniqueFd fd = std::move(best->fd);
    files_.erase(best);
    return fd;
}

}  // namespace bobbin::executable
