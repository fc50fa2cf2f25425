// SPDX-License-Identifier: Apache-2.0
#include "service/segment_store.h"

#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

namespace bobbin::service {

Result<std::unique_ptr<SegmentStore>> SegmentStore::open(std::string path,
                                                         const store::Limits& limits) {
    std::unique_ptr<SegmentStore> segments(new SegmentStore(std::move(path), limits));
    const std::scoped_lock lock(segments->store_mutex_);
    auto opened = segments->open_again();
    if (!opened && opened.error().code() == std::errc::operation_would_block) {
        return fail(std::move(opened).error());
    }
    if (!opened) segments->note(fail(opened.error()));
    segments->look();
    return segments;
}

Result<> SegmentStore::open_again() {
    BOBBIN_TRY(store::Store opened, store::Store::open(path_, limits_));
    store_.emplace(std::move(opened));
    return {};
}

Result<store::Segment> SegmentStore::try_append(const symbolize::NamedProfile& profile) {
    if (!store_) BOBBIN_CHECK(open_again());
    return store_->append(profile);
}

void SegmentStore::append(const symbolize::NamedProfile& profile) {
    const std::scoped_lock lock(store_mutex_);
    const Result<store::Segment> appended = try_append(profile);
    note(appended);
    if (!appended) note_lost();
    look();
}

void SegmentStore::note(const Result<store::Segment>& appended) {
    const bool was_failing = std::exchange(has_failed_, !appended);
    if (!appended && !was_failing) {
        spdlog::warn("nothing is stored in {} until this is mended: {}", path_,
                     appended.error().message());
    }
    if (appended && was_failing) spdlog::info("segments are stored in {} again", path_);
    const std::scoped_lock lock(facts_mutex_);
    if (appended) ++facts_.written_count;
    facts_.is_full = !appended && appended.error().code() == std::errc::no_space_on_device;
}

void SegmentStore::note_lost() {
    const std::scoped_lock lock(facts_mutex_);
    ++facts_.failed_count;
}

void SegmentStore::look() {
    if (!store_) return;
    const auto facts = store_->facts();
    if (!facts) return;
    const std::scoped_lock lock(facts_mutex_);
    facts_.segment_count = facts->segment_count;
    facts_.bytes = facts->bytes;
    facts_.oldest = facts->oldest;
    facts_.newest = facts->newest;
}

Result<> SegmentStore::set_limits(const store::Limits& limits) {
    const std::scoped_lock lock(store_mutex_);
    limits_ = limits;
    if (!store_) return {};
    auto set = store_->set_limits(limits);
    look();
    return set;
}

Status::Stored SegmentStore::facts() const {
    const std::scoped_lock lock(facts_mutex_);
    return facts_;
}

}  // namespace bobbin::service
