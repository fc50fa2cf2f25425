// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "profile/merge_profiles.h"
#include "store/cpu_series.h"
#include "store/cut_to_range.h"
#include "store/segment_directory.h"
#include "store/segment_file.h"
#include "store/segment_index.h"
#include "store/store.h"

namespace bobbin::store {

struct StoreReader::State {
    std::string path;
    SegmentDirectory files;

    [[nodiscard]] Result<std::vector<Segment>> find_in_index(const Range& range) const;
    [[nodiscard]] Result<std::vector<Segment>> find_in_files(const Range& range) const;
    // Nothing: it has left meanwhile.
    [[nodiscard]] Result<std::optional<symbolize::NamedProfile>> read(const Segment& segment,
                                                                      const Range& range) const;
};

// Opened anew each time, because the writer may have begun another one.
Result<std::vector<Segment>> StoreReader::State::find_in_index(const Range& range) const {
    BOBBIN_TRY(const SegmentIndex index, SegmentIndex::open_for_reading(path + "/" + kIndexFile));
    return index.find(range);
}

// Names and heads say as much as the index: 10,080 of them in 0.2 s.
Result<std::vector<Segment>> StoreReader::State::find_in_files(const Range& range) const {
    BOBBIN_TRY(const std::vector<SegmentDirectory::File> there, files.list());
    std::vector<Segment> segments;
    for (const SegmentDirectory::File& file : there) {
        const auto begin = time_of_segment(file.name);
        if (!begin || *begin >= range.end) continue;
        const auto head = files.read(file.name, kSegmentHeadBytes);
        if (!head) continue;  // it has left
        Segment segment = segment_from(file.name, file.size_bytes, *head);
        if (end_of(segment) <= range.begin) continue;
        segment.id = static_cast<std::int64_t>(segments.size()) + 1;
        segments.push_back(std::move(segment));
    }
    return segments;
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
    return state_->find_in_files(range);
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
    BOBBIN_TRY(const std::vector<Segment> segments, find(range));
    CpuSeries series(range, step, by);
    for (const Segment& segment : segments) {
        const auto profile = state_->read(segment, range);
        if (profile && *profile) series.add(**profile);
    }
    return series.take(max_series);
}

}  // namespace bobbin::store
