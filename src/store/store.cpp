// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/unique_fd.h"
#include "store/segment_directory.h"
#include "store/segment_file.h"
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

    Result<> catch_up();
    // Adds what the index lacks; leaves what it has too much.
    Result<> index_files(std::unordered_map<std::string, std::uint64_t>& size_by_name);
    Result<> compare_with_files();
    [[nodiscard]] std::uint64_t index_bytes() const;
    Result<std::string> write(Time begin, std::string_view bytes);
    Result<std::uint64_t> free_oldest(std::uint64_t bytes);
    Result<> keep_limits(Time now, const std::string& newest);
    [[nodiscard]] std::vector<std::string> choose_leaving(const std::vector<Segment>& oldest,
                                                          std::uint64_t bytes, Time now,
                                                          const std::string& newest) const;
    Result<> remove(const std::vector<std::string>& names);
};

std::uint64_t Store::State::index_bytes() const {
    std::uint64_t bytes = 0;
    for (const char* ending : {"", "-wal", "-shm"}) {
        struct stat status{};
        const std::string name = path + "/" + kIndexFile + ending;
        if (::stat(name.c_str(), &status) == 0) bytes += static_cast<std::uint64_t>(status.st_size);
    }
    return bytes;
}

Result<> Store::State::index_files(std::unordered_map<std::string, std::uint64_t>& size_by_name) {
    BOBBIN_TRY(const std::vector<SegmentDirectory::File> there, files.list());
    for (const SegmentDirectory::File& file : there) {
        const auto known = size_by_name.find(file.name);
        const bool is_right = known != size_by_name.end() && known->second == file.size_bytes;
        if (known != size_by_name.end()) size_by_name.erase(known);
        if (is_right) continue;
        const auto head = files.read(file.name, kSegmentHeadBytes);
        Segment segment = segment_from(file.name, file.size_bytes, head ? *head : std::string());
        BOBBIN_CHECK(index.add(segment));
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
Result<std::uint64_t> Store::State::free_oldest(std::uint64_t bytes) {
    BOBBIN_TRY(const std::vector<SegmentDirectory::File> there, files.list());
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
                   free_oldest(std::min(most - freed, bytes.size() + kRoomBeside)));
        if (now_freed == 0) return full;
        freed += now_freed;
    }
}

std::vector<std::string> Store::State::choose_leaving(const std::vector<Segment>& oldest,
                                                      std::uint64_t bytes, Time now,
                                                      const std::string& newest) const {
    std::vector<std::string> leaving;
    for (const Segment& segment : oldest) {
        if (bytes <= limits.max_bytes && end_of(segment) + limits.retention > now) break;
        if (segment.file == newest) continue;
        bytes -= std::min(bytes, segment.size_bytes);
        leaving.push_back(segment.file);
    }
    return leaving;
}

Result<> Store::State::keep_limits(Time now, const std::string& newest) {
    constexpr std::int64_t kAtOnce = 64;
    while (!index_is_behind) {
        BOBBIN_TRY(const StoreFacts facts, index.facts());
        BOBBIN_TRY(const std::vector<Segment> oldest, index.oldest(kAtOnce));
        const std::vector<std::string> leaving =
            choose_leaving(oldest, facts.bytes + index_bytes(), now, newest);
        if (leaving.empty()) return {};
        BOBBIN_CHECK(remove(leaving));
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
    const SegmentFacts facts = facts_of(profile);
    Segment segment{.file = std::move(name),
                    .begin = facts.begin,
                    .duration = facts.duration,
                    .sample_count = facts.sample_count,
                    .cpu_ns = facts.cpu_ns,
                    .size_bytes = bytes.size()};
    // It is kept now, whatever becomes of the index and of what is too old: the next one tries
    // again.
    const Result<> added = state.index.change([&] { return state.index.add(segment); });
    if (!added) state.index_is_behind = true;
    (void)state.keep_limits(end_of(segment), segment.file);
    return segment;
}

// Age is counted from the newest segment: a service that was off for a week does not begin by
// throwing away what there is.
Result<> Store::set_limits(const Limits& limits) {
    state_->limits = limits;
    BOBBIN_TRY(const StoreFacts facts, state_->index.facts());
    return state_->keep_limits(facts.newest, {});
}

Result<StoreFacts> Store::facts() const {
    BOBBIN_TRY(StoreFacts facts, state_->index.facts());
    facts.bytes += state_->index_bytes();
    return facts;
}

}  // namespace bobbin::store
