// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/where.h"
#include "symbolize/named_profile.h"

namespace bobbin::store {

using Time = std::chrono::system_clock::time_point;

struct Range {
    Time begin;  // included
    Time end;    // not included
};

struct Limits {
    std::chrono::seconds retention;
    std::uint64_t max_bytes;  // of segments and index together
};

// One stretch of recording, written once.
struct Segment {
    std::int64_t id = 0;
    std::string file;  // below the store's directory
    Time begin;
    std::chrono::nanoseconds duration{};
    std::uint64_t sample_count = 0;
    std::uint64_t cpu_ns = 0;
    std::uint64_t size_bytes = 0;
};

struct StoreFacts {
    std::uint64_t segment_count = 0;
    std::uint64_t bytes = 0;
    Time oldest;
    Time newest;
};

// The daemon's side: one writer. Directory layout: segments/YYYY-MM-DD/HHMMSS.mmm.pb.zst of UTC,
// each a pprof file with times, compressed by zstd; index.db, SQLite, which can be made again from
// them. SIGKILL or a loss of power at any moment loses at most what was not given to append().
class Store {
public:
    // Makes the directory, takes away what an interrupted append() left, and brings the index and
    // the files to agreement. EWOULDBLOCK: another process writes there.
    static Result<Store> open(const std::string& path, const Limits& limits);
    Store(Store&& other) noexcept;
    Store& operator=(Store&&) = delete;
    ~Store();

    // Written, synced, named, indexed; then what is too old (retention.h) or too much leaves,
    // oldest first. The time is when `profile` ended: nothing is too old before the first one.
    // Without room the oldest leave, at most a tenth of max_bytes for one segment; an error with
    // ENOSPC: there is none even so, and nothing is left of this one.
    Result<Segment> append(const symbolize::NamedProfile& profile);
    Result<> set_limits(const Limits& limits);
    [[nodiscard]] Result<StoreFacts> facts() const;

private:
    struct State;
    explicit Store(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Everybody else's side: reads beside the writer, and needs no right but to read.
class StoreReader {
public:
    static Result<StoreReader> open(const std::string& path);
    StoreReader(StoreReader&& other) noexcept;
    StoreReader& operator=(StoreReader&&) = delete;
    ~StoreReader();

    // Oldest first; segments that overlap the range.
    [[nodiscard]] Result<std::vector<Segment>> find(const Range& range) const;
    // All that was sampled in the range and matches, as one profile (profile/merge_profiles.h), cut
    // to the range to the span of time. A segment that cannot be read is left out and named in
    // NamedProfile::comments; one that leaves meanwhile is left out. Of more than kMaxStacks the
    // rarest keep their innermost frame alone, which a comment says.
    static constexpr std::size_t kMaxStacks = 200'000;
    [[nodiscard]] Result<symbolize::NamedProfile> read(const Range& range,
                                                       const Where& where) const;

    // Cores in use over time, for a chart: one value a step, by what owns the samples.
    struct Series {
        std::string name;           // unit, or comm; "" the rest
        std::vector<double> cores;  // one a step
    };
    enum class By { kAll, kUnit, kComm };
    // Of steps of CpuSums::kStep or more without opening segments that are of a minute; where the
    // steps are no multiples of that, a sample may be counted in the step beside its own.
    [[nodiscard]] Result<std::vector<Series>> series(const Range& range, std::chrono::seconds step,
                                                     By by, std::size_t max_series) const;

private:
    struct State;
    explicit StoreReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// "-1h" "-25h" "-7d" "now" "10:30" "2026-11-22" "2026-11-22 10:30[:15]" "2026-11-22T10:30:15Z"
// "@1790000000". Local time where none is said. Error: what is wrong, with examples.
Result<Time> parse_time(std::string_view text, Time now);
// "-1h", "-25h..-24h", "2026-11-22 10:00..11:00"; without .. up to now.
Result<Range> parse_range(std::string_view text, Time now);

}  // namespace bobbin::store
