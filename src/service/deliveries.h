// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "service/exports.h"
#include "service/segment_store.h"
#include "symbolize/named_profile.h"

namespace bobbin::service {

// Where each finished segment goes: to the store, then to those who it is sent to. Any thread, but
// exports() as Exports says.
class Deliveries {
public:
    Deliveries(std::shared_ptr<SegmentStore> store, const config::DaemonConfig& config)
        : store_(std::move(store)), exports_(config) {}

    void take(const symbolize::NamedProfile& segment) {
        store()->append(segment);
        exports_.take(segment);
    }
    void note_lost() const { store()->note_lost(); }

    void use(std::shared_ptr<SegmentStore> store) {
        const std::scoped_lock lock(mutex_);
        store_ = std::move(store);
    }
    [[nodiscard]] std::shared_ptr<SegmentStore> store() const {
        const std::scoped_lock lock(mutex_);
        return store_;
    }

    [[nodiscard]] Exports& exports() { return exports_; }
    [[nodiscard]] const Exports& exports() const { return exports_; }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<SegmentStore> store_;
    Exports exports_;
};

}  // namespace bobbin::service
