// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bobbin/bpf_abi.h"
#include "service/naming_times.h"
#include "store/where.h"
#include "symbolize/named_profile.h"

namespace bobbin::service {

// How the service is, for metrics, `bobbin ctl status` and the page. Counts are since its start.
struct Status {
    std::chrono::system_clock::time_point started;
    std::uint32_t configured_hz = 0;
    std::uint32_t hz = 0;    // as it is: lower over budget, higher while boosted, 0 paused
    std::string paused_why;  // empty: samples are taken
    std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT> ticks_by_outcome{};
    std::array<std::uint64_t, abi::WALK_END_COUNT> stacks_by_end{};
    std::uint64_t process_count = 0;  // in the open segment
    // Of one CPU, over the last ten seconds, user space and the kernel's sampling.
    double cpu_percent = 0;
    std::chrono::nanoseconds cpu_time{};      // user space, the process that reads names included
    std::chrono::nanoseconds bpf_cpu_time{};  // in the kernel's sampling
    std::uint64_t resident_bytes = 0;
    std::uint64_t map_bytes = 0;
    std::uint64_t throttle_count = 0;  // times that the rate fell to keep the budget
    NamingTimes naming_times;          // of segments

    struct Stored {
        std::uint64_t segment_count = 0;
        std::uint64_t bytes = 0;
        std::chrono::system_clock::time_point oldest;  // of the epoch: none
        std::chrono::system_clock::time_point newest;
        std::uint64_t written_count = 0;
        std::uint64_t failed_count = 0;  // segments that could not be written
        bool is_full = false;            // nothing is kept until there is room
    } stored;

    struct Exported {
        std::string to;  // "pyroscope http://host:4040", without secrets
        std::uint64_t sent_count = 0;
        std::uint64_t sent_bytes = 0;
        std::uint64_t queued_bytes = 0;
        std::uint64_t dropped_count = 0;  // oldest first, when the queue is full
        std::uint64_t error_count = 0;
        std::string last_error;
    };
    std::vector<Exported> exports;
};

// What can be asked of the running service. Any thread; each call waits for what it gives.
class Control {
public:
    virtual ~Control() = default;

    virtual Status status() = 0;
    // What is sampled from now on for `duration`; ends early, with what there is, once
    // `is_given_up` answers true, which is asked some times a second.
    virtual Result<symbolize::NamedProfile> collect(std::chrono::nanoseconds duration,
                                                    const store::Where& where,
                                                    const std::function<bool()>& is_given_up) = 0;
    // What was sampled in the last `duration`, the open segment included.
    virtual Result<symbolize::NamedProfile> last(std::chrono::nanoseconds duration,
                                                 const store::Where& where) = 0;
    // Another rate for a while; the configured one comes back by itself.
    virtual Result<> boost(std::uint32_t hz, std::chrono::nanoseconds duration) = 0;
    virtual Result<> pause() = 0;
    virtual Result<> resume() = 0;
    // Reads the configuration again: all of it is taken over, or nothing and the error says why.
    virtual Result<> reload() = 0;
};

}  // namespace bobbin::service
