// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sampler/cpu_hotplug.h"

namespace bobbin::sampler {

// One cpu-clock event on each online CPU, each running the tick program at `frequency_hz`. Sampling
// goes on from start() until stop() or destruction. cpu-clock and not cycles: it is there without a
// PMU and counts time. Main thread.
class PerfEvents {
public:
    // Error code of the failing system call in Error::code(): EACCES and EPERM mean privilege.
    static Result<PerfEvents> open(const std::vector<int>& cpus, std::uint32_t frequency_hz,
                                   int program_fd);
    Result<> start();
    Result<> stop();
    // From now on, whether they run or not.
    Result<> set_frequency(std::uint32_t frequency_hz);
    [[nodiscard]] std::uint32_t frequency_hz() const { return frequency_hz_; }

    // CPUs that came get an event, those that went lose it. To be called now and then; whatever
    // goes wrong concerns one CPU, is logged once, and the others go on.
    void follow_online_cpus();
    // The same for a list of CPUs; both lists ascending.
    void follow(std::span<const int> online, std::span<const int> replugged);

    [[nodiscard]] std::vector<int> cpus() const;

private:
    PerfEvents(std::uint32_t frequency_hz, int program_fd)
        : frequency_hz_(frequency_hz), program_fd_(program_fd) {}
    [[nodiscard]] Result<> add(int cpu);

    std::uint32_t frequency_hz_;
    int program_fd_;
    bool running_ = false;
    CpuWatch watch_;
    std::map<int, UniqueFd> events_;  // by CPU
    std::set<int> given_up_;          // until they come anew
};

}  // namespace bobbin::sampler
