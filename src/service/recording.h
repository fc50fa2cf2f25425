// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <tl/expected.hpp>

#include "base/result.h"
#include "cli/errors.h"
#include "config/record_config.h"
#include "daemon/sampling.h"
#include "service/part.h"

namespace bobbin::service {

// Sampling that goes on and on, handed out in parts. Its rate can be changed at any time. Main
// thread.
class Recording {
public:
    // Samples from then on, unless `hz` is 0.
    static tl::expected<std::unique_ptr<Recording>, cli::UserError> start(
        const config::RecordConfig& config, std::uint32_t hz);

    // What was counted since the last part; sampling goes on.
    Result<Part> cut();
    // From now on at another rate; 0: not at all.
    Result<> change_rate(std::uint32_t hz);
    // The last part. Samples that wait for tables are waited for until `is_in_a_hurry`.
    Result<Part> finish(const std::function<bool()>& is_in_a_hurry);

    [[nodiscard]] std::uint32_t hz() const { return hz_; }
    // Since it was loaded.
    [[nodiscard]] Result<abi::outcome_counters> counters() const;
    [[nodiscard]] const daemon::Sampling& sampling() const { return *sampling_; }
    void follow_online_cpus() { sampling_->events.follow_online_cpus(); }
    // Samples these cgroups from now on; for a recording that began with such targets.
    Result<> follow_cgroups(const std::vector<std::uint64_t>& ids);

private:
    Recording(std::shared_ptr<daemon::Sampling> sampling, std::uint32_t hz)
        : sampling_(std::move(sampling)), hz_(hz) {}

    std::shared_ptr<daemon::Sampling> sampling_;
    std::uint32_t hz_;
    std::chrono::steady_clock::time_point part_begin_;
    std::chrono::system_clock::time_point part_begin_wall_;
    abi::outcome_counters counters_{};  // as they were then
    daemon::ResumedWalks resumed_;
};

}  // namespace bobbin::service
