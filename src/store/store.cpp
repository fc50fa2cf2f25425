// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/unique_fd.h"
#include "store/retention.h"
#include "store/segment_directory.h"
#include "store/segment_file.h"
#include "store/segment_front.h"
#include "store/segment_index.h"

namespace bobbin::store {
namespace {

// Not the group's to read: a lock could be held by whoever can open it.
Result<UniqueFd> lock_store(const std::string& path) {
    const std::string name = path + "/lock";
    UniqueFd lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.is_open()) return fail_with(errno, "open {}", name);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return fail_with(errno, "{}: another process writes there", path);
    }
    return lock;
}

std::uint64_t bytes_of(const std::string& file) {
    struct stat status{};
    return ::stat(file.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool is_full(const Error& error) {
    return error.code() == std::errc::no_space_on_device ||
           error.code() == std::error_code(EDQUOT, std::generic_category());
}

}  // namespace

struct Store::State {
    std::string path;
    Limits limits;
    UniqueFd lock;
    SegmentDirectory files;
    SegmentIndex index;
    bool index_is_behind = false;  // a change of it failed; the files are what counts
    std::optional<Time> clock;     // when the last segment ended that was given to us

    Result<> catch_up();
    // Adds what the index lacks; leaves what it has too much.
    Result<> index_files(std::unordered_map<std::string, std::uint64_t>& size_by_name);
    Result<> compare_with_files();
    [[nodiscard]] std::uint64_t index_bytes() const;
    Result<std::string> write(Time begin, std::string_view bytes);
    Result<std::uint64_t> free_oldest(Time now, std::uint64_t bytes);
    // `newest` stays in any case.
    Result<> keep_limits(const std::string& newest);
    [[nodiscard]] std::vector<std::string> choose_leaving(const std::vector<Segment>& segments,
                                                          std::uint64_t bytes,
                                                          const std::string& newest) const;
    Result<> remove(const std::vector<std::string>& names);
};

std::uint64_t Store::State::index_bytes() const {
    std::uint64_t bytes = 0;
    for (const char* ending : {"", "-wal", "-shm"})
        bytes += bytes_of(path + "/" + kIndexFile + ending);
    return bytes;
}

Result<> Store::State::index_files(std::unordered_map<std::string, std::uint64_t>& size_by_name) {
    BOBBIN_TRY(const std::vector<SegmentDirectory::File> there, files.list());
    for (const SegmentDirectory::File& file : there) {
        const auto known = size_by_name.find(file.name);
        const bool is_right = known != size_by_name.end() && known->second == file.size_bytes;
        if (known != size_by_name.end()) size_by_name.erase(known);
        if (is_right) continue;
        const auto front = read_front(files, file);
        BOBBIN_CHECK(index.add(front ? *front : segment_from(file, {})));
    }
    return {};
}

Result<> Store::State::compare_with_files() {
    BOBBIN_TRY(const std::vector<Segment> rows, index.all());
    std::unordered_map<std::string, std::uint64_t> size_by_name;
    for (const Segment& row : rows) size_by_name.emplace(row.file, row.size_bytes);
    return index.change([&]() -> Result<> {
        BOBBIN_CHECK(index_files(size_by_name));
        for (const auto& gone : size_by_name) BOBBIN_CHECK(index.remove(gone.first));
        return {};
    });
}

// An index that cannot be changed, though there is room, is begun again: it may be damaged, or
// somebody who may read it holds a lock on it.
Result<> Store::State::catch_up() {
    Result<> compared = compare_with_files();
    if (!compared && !is_full(compared.error())) {
        BOBBIN_TRY(index, SegmentIndex::remake(path + "/" + kIndexFile));
        compared = compare_with_files();
    }
    index_is_behind = !compared;
    return compared;
}

Result<> Store::State::remove(const std::vector<std::string>& names) {
    for (const std::string& name : names) BOBBIN_CHECK(files.remove(name));
    // Behind the files, whose room it may need.
    const Result<> changed = index.change([&]() -> Result<> {
        for (const std::string& name : names) BOBBIN_CHECK(index.remove(name));
        return {};
    });
    if (!changed) index_is_behind = true;
    return {};
}

// From the files and not from the index, which may be behind on a full disk. Gives what was freed.
Result<std::uint64_t> Store::State::free_oldest(Time now, std::uint64_t bytes) {
    BOBBIN_TRY(std::vector<SegmentDirectory::File> there, files.list());
    std::vector<Range> times;
    for (const SegmentDirectory::File& file : there) {
        const Time begin = time_of_segment(file.name).value_or(Time{});
        times.push_back({.begin = begin, .end = begin});
    }
    const Retention retention(times, now, limits.retention);
    std::ranges::stable_partition(there, [&](const SegmentDirectory::File& file) {
        const Time begin = time_of_segment(file.name).value_or(Time{});
        return retention.is_ahead_of_clock({.begin = begin, .end = begin});
    });
    std::vector<std::string> leaving;
    std::uint64_t freed = 0;
    for (const SegmentDirectory::File& file : there) {
        if (freed >= bytes) break;
        freed += file.size_bytes;
        leaving.push_back(file.name);
    }
    BOBBIN_CHECK(remove(leaving));
    return freed;
}

// Others may fill the disk too: then giving up what is old would not help for long.
Result<std::string> Store::State::write(Time begin, std::string_view bytes) {
    constexpr std::uint64_t kRoomBeside = 64 << 10;  // for a directory, and the index's log
    const std::uint64_t most = limits.max_bytes / 10;
    for (std::uint64_t freed = 0;;) {
        auto name = files.write(begin, bytes);
        if (name || !is_full(name.error())) return name;
        const Failure full = fail_with(ENOSPC, "keep a segment of {} bytes", bytes.size());
        if (freed >= most) return full;
        BOBBIN_TRY(const std::uint64_t now_freed,
                   free_oldest(begin, std::min(most - freed, bytes.size() + kRoomBeside)));
        if (now_freed == 0) return full;
        freed += now_freed;
    }
}

// What is too old, and of the others so many that there is room for the rest.
std::vector<std::string> Store::State::choose_leaving(const std::vector<Segment>& segments,
                                                      std::uint64_t bytes,
                                                      const std::string& newest) const {
    std::vector<Range> times;
    times.reserve(segments.size());
    for (const Segment& segment : segments) {
        times.push_back({.begin = segment.begin, .end = end_of(segment)});
    }
    // Nobody has told the time yet: then that of a service that was off for long is unknown.
    const bool is_timed = clock.has_value();
    const Retention retention(times, clock.value_or(Time{}), limits.retention);
    std::vector<std::size_t> order(segments.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_too_old = [&](std::size_t i) {
        return is_timed && retention.is_too_old(times[i]);
    };
    std::ranges::stable_partition(
        order, [&](std::size_t i) { return is_timed && retention.is_ahead_of_clock(times[i]); });
    std::ranges::stable_partition(order, is_too_old);
    std::vector<std::string> leaving;
    for (const std::size_t i : order) {
        if (segments[i].file == newest) continue;
        if (!is_too_old(i) && bytes <= limits.max_bytes) break;
        bytes -= std::min(bytes, segments[i].size_bytes);
        leaving.push_back(segments[i].file);
    }
    return leaving;
}

// Not all at once: an index of fewer segments is smaller too. Its log counts as what it may become,
// or each segment that leaves would make it larger, and the next one leave for that.
Result<> Store::State::keep_limits(const std::string& newest) {
    constexpr std::size_t kAtOnce = 256;
    constexpr std::uint64_t kLogBytes = 320 << 10;
    while (!index_is_behind) {
        BOBBIN_TRY(const std::vector<Segment> segments, index.all());
        const std::uint64_t log_bytes = bytes_of(path + "/" + kIndexFile + "-wal");
        std::uint64_t bytes = index_bytes() + (log_bytes < kLogBytes ? kLogBytes - log_bytes : 0);
        for (const Segment& segment : segments) bytes += segment.size_bytes;
        std::vector<std::string> leaving = choose_leaving(segments, bytes, newest);
        if (leaving.empty()) return {};
        leaving.resize(std::min(leaving.size(), kAtOnce));
        BOBBIN_CHECK(remove(leaving));
        if (leaving.size() == kAtOnce) index.shrink();
    }
    return {};
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&& other) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& path, const Limits& limits) {
    BOBBIN_TRY(SegmentDirectory files, SegmentDirectory::make(path));
    BOBBIN_TRY(UniqueFd lock, lock_store(path));
    files.remove_unfinished();
    BOBBIN_TRY(SegmentIndex index, SegmentIndex::open(path + "/" + kIndexFile));
    Store store(std::make_unique<State>(State{.path = path,
                                              .limits = limits,
                                              .lock = std::move(lock),
                                              .files = std::move(files),
                                              .index = std::move(index)}));
    // On a full disk this is done later: the files are there all the same.
    const Result<> caught_up = store.state_->catch_up();
    if (!caught_up && !is_full(caught_up.error())) return fail(caught_up.error());
    BOBBIN_CHECK(store.set_limits(limits));
    return store;
}

Result<Segment> Store::append(const symbolize::NamedProfile& profile) {
    State& state = *state_;
    BOBBIN_TRY(const std::string bytes, encode_segment(profile));
    if (state.index_is_behind) (void)state.catch_up();
    BOBBIN_TRY(std::string name, state.write(profile.started, bytes));
    SegmentFront front = segment_from({.name = std::move(name), .size_bytes = bytes.size()}, bytes);
    state.clock = end_of(front.segment);
    // It is kept now, whatever becomes of the index and of what is too old: the next one tries
    // again.
    const Result<> added = state.index.change([&]() -> Result<> {
        BOBBIN_TRY(front.segment.id, state.index.add(front));
        return {};
    });
    if (!added) state.index_is_behind = true;
    (void)state.keep_limits(front.segment.file);
    return front.segment;
}

Result<> Store::set_limits(const Limits& limits) {
    state_->limits = limits;
    return state_->keep_limits({});
}

Result<StoreFacts> Store::facts() const {
    BOBBIN_TRY(StoreFacts facts, state_->index.facts());
    facts.bytes += state_->index_bytes();
    return facts;
}

}  // namespace bobbin::store
