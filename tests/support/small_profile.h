// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "unit/store/minute_profile.h"

namespace bobbin::test {

// A minute with 60 samples of main;work in worker.service, one a second, and 30 of main;serve in
// nginx.service, one each two seconds, of 50 ms each.
inline symbolize::NamedProfile small_profile(std::chrono::system_clock::time_point started) {
    const auto every = [](std::uint32_t seconds) {
        aggregate::TimeCounts times;
        for (std::uint32_t at = 0; at < 60; at += seconds) times.push_back({10 * at, 1});
        return times;
    };
    using store::test::labels_of;
    return store::test::MinuteProfile(started)
        .add({"work", "main"}, labels_of(1, "worker", "worker.service"), every(1))
        .add({"serve", "main"}, labels_of(2, "nginx", "nginx.service"), every(2))
        .profile;
}

}  // namespace bobbin::test
