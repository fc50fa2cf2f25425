// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "service/control.h"
#include "store/store.h"
#include "symbolize/named_profile.h"

namespace bobbin::service {

// The store as the service has it: one that cannot be written costs the segments of that time, is
// told once, and is tried again with each segment. Any thread.
class SegmentStore {
public:
    // EWOULDBLOCK: another process writes there. With any other error it begins without a store.
    static Result<std::unique_ptr<SegmentStore>> open(std::string path,
                                                      const store::Limits& limits);

    void append(const symbolize::NamedProfile& profile);
    // A segment that could not be made.
    void note_lost();
    Result<> set_limits(const store::Limits& limits);

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] Status::Stored facts() const;

private:
    SegmentStore(std::string path, const store::Limits& limits)
        : path_(std::move(path)), limits_(limits) {}
    Result<> open_again();
    Result<store::Segment> try_append(const symbolize::NamedProfile& profile);
    void note(const Result<store::Segment>& appended);
    void look();

    std::string path_;
    store::Limits limits_;
    std::mutex store_mutex_;  // taken before facts_mutex_; a slow disk holds it for long
    std::optional<store::Store> store_;
    bool has_failed_ = false;
    mutable std::mutex facts_mutex_;
    Status::Stored facts_;
};

}  // namespace bobbin::service
