// SPDX-License-Identifier: Apache-2.0
#include "service/open_segment.h"

#include <algorithm>

#include "service/segment_times.h"

namespace bobbin::service {

void OpenSegment::begin(std::chrono::seconds length, std::shared_ptr<SegmentStore> store) {
    const auto now = std::chrono::system_clock::now();
    segment_ = {.parts = {}, .begin = now, .notes = {}, .store = std::move(store)};
    stack_bytes_ = 0;
    deadline_ = Clock::now() + until_segment_ends(now, length);
}

void OpenSegment::add(Part part) {
    stack_bytes_ += part.stack_bytes;
    segment_.duration += part.duration;
    auto shared = std::make_shared<const Part>(std::move(part));
    for (auto& [number, parts] : collections_) parts.push_back(shared);
    segment_.parts.push_back(std::move(shared));
}

void OpenSegment::note(std::string text) {
    auto& notes = segment_.notes;
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
}

std::shared_ptr<const Segment> OpenSegment::take() {
    return std::make_shared<const Segment>(std::exchange(segment_, {}));
}

int OpenSegment::begin_collecting() {
    collections_.try_emplace(++last_number_);
    return last_number_;
}

Parts OpenSegment::end_collecting(int number) {
    auto collection = collections_.extract(number);
    return collection ? std::move(collection.mapped()) : Parts{};
}

}  // namespace bobbin::service
