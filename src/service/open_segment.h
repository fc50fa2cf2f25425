// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "service/part.h"

namespace bobbin::service {

// The parts of the segment that is not finished, and those that somebody collects meanwhile. Main
// thread.
class OpenSegment {
public:
    using Clock = std::chrono::steady_clock;

    // Begins now and is to end with the wall clock's next multiple of `length`; kept in `store`.
    void begin(std::chrono::seconds length, std::shared_ptr<SegmentStore> store);
    [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

    void add(Part part);
    // For its comments, once.
    void note(std::string text);
    [[nodiscard]] const Parts& parts() const { return segment_.parts; }
    [[nodiscard]] std::uint64_t stack_bytes() const { return stack_bytes_; }
    // What there is. begin() is to follow.
    std::shared_ptr<const Segment> take();

    // All parts that are added until end_collecting() of the number that it gives.
    int begin_collecting();
    Parts end_collecting(int number);

private:
    Segment segment_;
    std::uint64_t stack_bytes_ = 0;
    Clock::time_point deadline_;
    int last_number_ = 0;
    std::map<int, Parts> collections_;
};

}  // namespace bobbin::service
