// SPDX-License-Identifier: Apache-2.0
#include "daemon/files_in_flight.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bobbin::daemon {
namespace {

constexpr unsigned kMaxSilences = 2;
constexpr std::size_t kMaxProcesses = 64;

executable::BuiltExecutable refuse(const abi::announcement& announcement,
                                   executable::LostReason reason, const std::string& path) {
    executable::BuiltExecutable refused;
    refused.key = announcement.key;
    refused.executable.id = announcement.executable_id;
    refused.executable.path = path;
    refused.executable.refused = executable::describe(reason);
    return refused;
}

}  // namespace

void FilesInFlight::lose(const abi::announcement& announcement, executable::LostReason reason,
                         const std::string& path) {
    {
        const std::scoped_lock lock(mutex_);
        ++lost_files_.at(static_cast<std::size_t>(reason));
    }
    if (executable::shall_be_announced_again(reason)) {
        built.push(announcement);
    } else {
        built.push(refuse(announcement, reason, path));
    }
}

executable::LostFileCounts FilesInFlight::lost_files() const {
    const std::scoped_lock lock(mutex_);
    return lost_files_;
}

void FilesInFlight::note_silent(std::uint32_t device) {
    const std::scoped_lock lock(mutex_);
    ++silences_[device];
}

bool FilesInFlight::is_silent(std::uint32_t device) const {
    const std::scoped_lock lock(mutex_);
    const auto found = silences_.find(device);
    return found != silences_.end() && found->second >= kMaxSilences;
}

void FilesInFlight::note_process(pid_t pid) {
    const std::scoped_lock lock(mutex_);
    if (processes_.size() == kMaxProcesses || std::ranges::count(processes_, pid) != 0) return;
    processes_.push_back(pid);
}

std::vector<pid_t> FilesInFlight::take_processes() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(processes_, {});
}

}  // namespace bobbin::daemon
