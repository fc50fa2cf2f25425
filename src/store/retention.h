// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "store/store.h"

namespace bobbin::store {

// Which segments are too old, where clocks are wrong at times.
//
// Segments less than a day from each other are a stretch. One ages as its own stretch goes on. That
// there is a later one counts only when that is a day long: a clock that is wrong for an hour makes
// nothing old. A stretch that begins more than a day behind the clock was dated by a wrong one, or
// the clock is wrong now: it stays until what is not so covers all the time that is kept. Where
// less than a day is kept, that is what a day is.
class Retention {
public:
    // `segments` oldest first; `clock` is the time.
    Retention(const std::vector<Range>& segments, Time clock, std::chrono::seconds kept);

    // Of one of `segments`.
    [[nodiscard]] bool is_too_old(const Range& segment) const;
    // Such leave before others when there is no room.
    [[nodiscard]] bool is_ahead_of_clock(const Range& segment) const;

private:
    struct Stretch {
        Time begin;
        Time end;
        Time aged_until;  // what ended more than `kept_` before is too old
        bool is_ahead = false;
    };
    [[nodiscard]] const Stretch* stretch_of(const Range& segment) const;
    void judge(Time clock);

    std::chrono::seconds kept_;
    std::chrono::seconds patience_;
    std::vector<Stretch> stretches_;
    bool covers_all_ = false;
};

}  // namespace bobbin::store
