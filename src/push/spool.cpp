// SPDX-License-Identifier: Apache-2.0
#include "push/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"
#include "base/write_all.h"

namespace bobbin::push {
namespace {

constexpr std::string_view kEnding = ".pb.gz";
constexpr std::string_view kUnfinished = "unfinished";
constexpr std::size_t kDigits = 20;  // of 2^64
constexpr mode_t kMode = 0640;

std::optional<std::uint64_t> number_in(std::string_view name) {
    if (name.size() != kDigits + kEnding.size() || !name.ends_with(kEnding)) return std::nullopt;
    std::uint64_t number = 0;
    const char* const digits_end = name.data() + kDigits;
    const auto [end, problem] = std::from_chars(name.data(), digits_end, number);
    if (problem != std::errc{} || end != digits_end) return std::nullopt;
    return number;
}

}  // namespace

Spool::Spool(std::string directory, std::uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {
    find_files();
    unlink(make_room(0));
}

std::string Spool::path_of(std::uint64_t number) const {
    return fmt::format("{}/{:020}{}", directory_, number, kEnding);
}

void Spool::find_files() {
    std::error_code problem;
    std::filesystem::directory_iterator file(directory_, problem);
    for (; !problem && file != std::filesystem::directory_iterator(); file.increment(problem)) {
        const auto number = number_in(file->path().filename().string());
        if (!number) continue;
        const std::uint64_t size = file->file_size(problem);
        if (!problem) items_.push_back({.number = *number, .size = size});
    }
    std::ranges::sort(items_, {}, &Item::number);
    for (const Item& item : items_) bytes_ += item.size;
    if (!items_.empty()) next_number_ = items_.back().number + 1;
}

std::vector<Spool::Item> Spool::make_room(std::uint64_t size) {
    std::vector<Item> dropped;
    const std::scoped_lock lock(mutex_);
    while (!items_.empty() && bytes_ + size > max_bytes_) {
        bytes_ -= items_.front().size;
        dropped.push_back(items_.front());
        items_.pop_front();
        ++dropped_count_;
    }
    return dropped;
}

void Spool::unlink(const std::vector<Item>& items) const {
    for (const Item& item : items) ::unlink(path_of(item.number).c_str());
}

// Under another name until it is whole, so that SIGKILL leaves no half of one. It is not synced:
// after a loss of power a file may be empty, cut or of zeros, which costs what was not sent of the
// last seconds, and not a wait for the disk each minute. The store has the same, synced.
Result<> Spool::write(std::string_view bytes, std::uint64_t number) const {
    const std::string path = fmt::format("{}/{}", directory_, kUnfinished);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
    std::error_code problem;
    std::filesystem::create_directories(directory_, problem);
    const UniqueFd file(::open(path.c_str(), kFlags, kMode));
    if (file.get() < 0) return fail_with(errno, "open {}", path);
    auto written = write_all(file.get(), bytes, path);
    if (written && ::rename(path.c_str(), path_of(number).c_str()) != 0) {
        written = fail_with(errno, "rename {}", path);
    }
    if (!written) ::unlink(path.c_str());
    return written;
}

Result<> Spool::append(std::string_view bytes) {
    const std::scoped_lock one_at_a_time(append_mutex_);
    const bool is_too_large = bytes.size() > max_bytes_;
    if (!is_too_large) unlink(make_room(bytes.size()));
    auto written = is_too_large
                       ? fail("a profile of {} bytes in a queue of {}", bytes.size(), max_bytes_)
                       : write(bytes, next_number_);
    const std::scoped_lock lock(mutex_);
    if (!written) {
        ++dropped_count_;
        return written;
    }
    items_.push_back({.number = next_number_++, .size = bytes.size()});
    bytes_ += bytes.size();
    return {};
}

std::vector<Spool::Item> Spool::oldest(std::size_t max_count) const {
    const std::scoped_lock lock(mutex_);
    const auto count = static_cast<std::ptrdiff_t>(std::min(max_count, items_.size()));
    return {items_.begin(), items_.begin() + count};
}

Result<std::string> Spool::read(const Item& item) const {
    const std::string path = path_of(item.number);
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0) return fail_with(errno, "open {}", path);
    std::string bytes(item.size, '\0');
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_with(errno, "read {}", path);
        if (count == 0) return fail("{} has become shorter", path);
        filled += static_cast<std::size_t>(count);
    }
    return bytes;
}

bool Spool::remove(const Item& item) {
    {
        const std::scoped_lock lock(mutex_);
        const auto found = std::ranges::find(items_, item.number, &Item::number);
        if (found == items_.end()) return false;
        bytes_ -= found->size;
        items_.erase(found);
    }
    unlink({item});
    return true;
}

Spool::Facts Spool::facts() const {
    const std::scoped_lock lock(mutex_);
    return {.count = items_.size(), .bytes = bytes_, .dropped_count = dropped_count_};
}

}  // namespace bobbin::push
