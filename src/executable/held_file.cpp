// SPDX-License-Identifier: Apache-2.0
#include "executable/held_file.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace bobbin::executable {

HeldFile::HeldFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {
    if (const auto status = status_of(fd_.get())) status_ = *status;
}

// Of what is there now only a place is taken until it is known to be the same file.
Result<UniqueFd> HeldFile::check(UniqueFd place) const {
    if (!place.is_open()) return fail_with(errno, "open {}", path_);
    BOBBIN_TRY(const FileStatus now, status_of(place.get()));
    if (!status_.is_regular || !is_same_file(now, status_)) {
        return fail("{} is another file by now", path_);
    }
    return place;
}

Result<UniqueFd> HeldFile::find_by_path() const {
    return check(UniqueFd(path_.starts_with('/') ? open_place(path_.c_str()) : -1));
}

Result<UniqueFd> HeldFile::open_for_reading() const {
    const std::scoped_lock lock(mutex_);
    if (!fd_.is_open()) {
        BOBBIN_TRY(const UniqueFd place, find_by_path());
        BOBBIN_TRY(const int fd, open_contents(place.get()));
        return UniqueFd(fd);
    }
    UniqueFd copy(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy.is_open()) return fail_with(errno, "open {} once more", path_);
    return copy;
}

void HeldFile::look_up_path() {
    const bool found = find_by_path().has_value();
    const std::scoped_lock lock(mutex_);
    path_led_here_ = found;
}

bool HeldFile::is_held() const {
    const std::scoped_lock lock(mutex_);
    return fd_.is_open();
}

Result<UniqueFd> HeldFile::find_by_cached_path() const {
    return check(UniqueFd(open_place_cached(AT_FDCWD, path_.c_str())));
}

bool HeldFile::is_gone() const {
    // Who opens it meanwhile may wait for a file system, and is a sign of life.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    if (fd_.is_open()) {
        const auto now = status_of(fd_.get());
        return now && !now->has_name;
    }
    if (!path_led_here_) return false;
    const auto found = find_by_cached_path();
    if (found) return false;
    const std::error_code why = found.error().code();  // none: another file lies there by now
    return !why || why == std::errc::no_such_file_or_directory || why == std::errc::not_a_directory;
}

// A name that is gone is no longer known by heart either, so the link count is asked first.
bool HeldFile::is_found_by_path() const {
    if (!path_led_here_) return false;
    const auto now = status_of(fd_.get());
    if (!now || !now->has_name || !path_.starts_with('/')) return false;
    const auto found = find_by_cached_path();
    return found || found.error().code() == std::errc::resource_unavailable_try_again;
}

bool HeldFile::let_go() {
    const std::scoped_lock lock(mutex_);
    if (!is_found_by_path()) return false;
    fd_.reset();
    return true;
}

bool HeldFile::drop() {
    const std::scoped_lock lock(mutex_);
    const bool is_found = is_found_by_path();
    fd_.reset();
    return is_found;
}

}  // namespace bobbin::executable
