// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <utility>

#include "profile/merge_profiles.h"
#include "store/cpu_series.h"
#include "store/cpu_sums.h"
#include "store/cut_to_range.h"
#include "store/segment_directory.h"
#include "store/segment_file.h"
#include "store/segment_front.h"
#include "store/segment_index.h"
#include "store/store.h"

namespace bobbin::store {

struct StoreReader::State {
    std::string path;
    SegmentDirectory files;

    using Take = std::function<void(const SegmentFront&)>;
    [[nodiscard]] Result<std::vector<Segment>> find_in_index(const Range& range) const;
    // The segments of the range, oldest first: by the index, and by the files where that fails.
    [[nodiscard]] Result<> find_fronts_in_index(const Range& range, const Take& take) const;
    [[nodiscard]] Result<> find_fronts_in_files(const Range& range, const Take& take) const;
    // Adds up what the range has; gives the segments of which only their profiles tell.
    [[nodiscard]] Result<std::vector<Segment>> add_sums(const Range& range,
                                                        CpuSeries& series) const;
    // Nothing: it has left meanwhile.
    [[nodiscard]] Result<std::optional<symbolize::NamedProfile>> read(const Segment& segment,
                                                                      const Range& range) const;
};

// Opened anew each time, because the writer may have begun another one.
Result<std::vector<Segment>> StoreReader::State::find_in_index(const Range& range) const {
    BOBBIN_TRY(const SegmentIndex index, SegmentIndex::open_for_reading(path + "/" + kIndexFile));
    return index.find(range);
}

Result<> StoreReader::State::find_fronts_in_index(const Range& range, const Take& take) const {
    BOBBIN_TRY(const SegmentIndex index, SegmentIndex::open_for_reading(path + "/" + kIndexFile));
    return index.find_fronts(range, take);
}

// Names and fronts say as much as the index: 10,080 of them in 0.6 s, sums added up.
Result<> StoreReader::State::find_fronts_in_files(const Range& range, const Take& take) const {
    BOBBIN_TRY(const std::vector<SegmentDirectory::File> there, files.list());
    std::int64_t id = 0;
    for (const SegmentDirectory::File& file : there) {
        const auto begin = time_of_segment(file.name);
        if (!begin || *begin >= range.end) continue;
        auto front = read_front(files, file);
        if (!front || end_of(front->segment) <= range.begin) continue;  // the first: it has left
        front->segment.id = ++id;
        take(*front);
    }
    return {};
}

Result<std::vector<Segment>> StoreReader::State::add_sums(const Range& range,
                                                          CpuSeries& series) const {
    std::vector<Segment> others;
    const CpuSeries empty = series;
    const auto take = [&](const SegmentFront& front) {
        const auto sums = decode_cpu_sums(front.sums);
        if (sums && series.can_add(*sums)) {
            series.add(*sums);
        } else {
            others.push_back(front.segment);
        }
    };
    if (find_fronts_in_index(range, take)) return others;
    series = empty;
    others.clear();
    BOBBIN_CHECK(find_fronts_in_files(range, take));
    return others;
}

Result<std::optional<symbolize::NamedProfile>> StoreReader::State::read(const Segment& segment,
                                                                        const Range& range) const {
    const auto bytes = files.read(segment.file, kMaxSegmentFileBytes);
    if (!bytes && bytes.error().code() == std::errc::no_such_file_or_directory) {
        return std::nullopt;
    }
    if (!bytes) return fail(bytes.error());
    auto profile = decode_segment(*bytes);
    if (!profile) return fail(profile.error()).context("{}", segment.file);
    cut_to_range(range, *profile);
    return std::move(*profile);
}

StoreReader::StoreReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoreReader::StoreReader(StoreReader&& other) noexcept = default;
StoreReader::~StoreReader() = default;

Result<StoreReader> StoreReader::open(const std::string& path) {
    BOBBIN_TRY(SegmentDirectory files, SegmentDirectory::open(path));
    return StoreReader(std::make_unique<State>(State{.path = path, .files = std::move(files)}));
}

Result<std::vector<Segment>> StoreReader::find(const Range& range) const {
    auto found = state_->find_in_index(range);
    if (found) return found;
    std::vector<Segment> segments;
    BOBBIN_CHECK(state_->find_fronts_in_files(
        range, [&](const SegmentFront& front) { segments.push_back(front.segment); }));
    return segments;
}

Result<symbolize::NamedProfile> StoreReader::read(const Range& range, const Where& where) const {
    BOBBIN_TRY(const std::vector<Segment> segments, find(range));
    profile::ProfileMerger merger(kMaxStacks);
    std::vector<std::string> comments;
    for (const Segment& segment : segments) {
        auto profile = state_->read(segment, range);
        if (!profile) comments.push_back("not read: " + profile.error().message());
        if (!profile || !*profile) continue;
        // What they say is of one minute each, and of all samples.
        (*profile)->comments.clear();
        where.keep_matching(**profile);
        merger.add(**profile);
    }
    if (merger.folded_count() != 0) {
        comments.push_back(fmt::format("{} rare stacks show their innermost function alone",
                                       merger.folded_count()));
    }
    symbolize::NamedProfile merged = merger.take();
    merged.comments = std::move(comments);
    return merged;
}

Result<std::vector<StoreReader::Series>> StoreReader::series(const Range& range,
                                                             std::chrono::seconds step, By by,
                                                             std::size_t max_series) const {
    if (step.count() <= 0 || range.end <= range.begin) return fail("no time to show");
    CpuSeries series(range, step, by);
    BOBBIN_TRY(const std::vector<Segment> segments, state_->add_sums(range, series));
    for (const Segment& segment : segments) {
        const auto profile = state_->read(segment, range);
        if (profile && *profile) series.add(**profile);
    }
    return series.take(max_series);
}

}  // namespace bobbin::store
