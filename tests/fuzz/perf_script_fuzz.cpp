// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/check_profile.h"
#include "profile/read_perf_script.h"
#include "profile/thread_timelines.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)bobbin::profile::is_perf_script(text);
    const auto profile = bobbin::profile::read_perf_script(text);
    if (!profile) return 0;
    bobbin::test::check_profile(*profile);
    for (const auto& stack : profile->stacks) {
        std::uint64_t in_time = 0;
        for (const auto& time : stack.times) in_time += time.count;
        bobbin::test::require(in_time == stack.count);
    }
    for (const auto& thread : bobbin::profile::lay_out_threads(*profile).threads) {
        for (const auto& samples : thread.samples)
            bobbin::test::require(samples.start <= samples.end);
    }
    return 0;
}
