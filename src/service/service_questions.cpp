// SPDX-License-Identifier: Apache-2.0
// What Service does when it is asked to.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "service/notify.h"
#include "service/sampling_config.h"
#include "service/service.h"

namespace bobbin::service {

Result<Parts> Service::recent_parts() {
    BOBBIN_CHECK(add_part(recording_->cut()));
    Parts parts = namer_->waiting_parts();
    parts.insert(parts.end(), open_.parts().begin(), open_.parts().end());
    return parts;
}

Result<int> Service::begin_collecting() {
    BOBBIN_CHECK(add_part(recording_->cut()));
    return open_.begin_collecting();
}

Result<Parts> Service::end_collecting(int number) {
    auto added = add_part(recording_->cut());
    Parts parts = open_.end_collecting(number);
    if (!added) return fail(std::move(added).error());
    return parts;
}

Result<> Service::boost(std::uint32_t hz, std::chrono::nanoseconds duration) {
    const auto now = Clock::now();
    wishes_.boost(hz, now + duration);
    return apply_rate(now);
}

Result<> Service::pause(bool is_paused) {
    wishes_.pause(is_paused);
    return apply_rate(Clock::now());
}

Result<> Service::reload() {
    notify_reloading();
    const auto done = [this]() -> Result<> {
        auto config = config::read_daemon_config(config_path_);
        if (!config) {
            const config::ConfigError& error = config.error();
            return fail("{}: {}: {}", error.place, error.what, error.why);
        }
        BOBBIN_TRY(Changes changes, prepare(*config));
        return take_over(*config, std::move(changes));
    }();
    notify_ready();
    return done;
}

Result<Service::Changes> Service::prepare(const config::DaemonConfig& config) {
    Changes changes;
    if (!samples_alike(config, config_)) {
        auto recording = Recording::start(sampling_config(config), 0);
        if (!recording) return fail("{}: {}", recording.error().what, recording.error().why);
        changes.recording = std::move(*recording);
    }
    const store::Limits limits{config.store.retention, config.store.max_bytes};
    if (config.store.path != config_.store.path) {
        BOBBIN_TRY(changes.store, SegmentStore::open(config.store.path, limits));
    }
    if (config.http.listen != config_.http.listen) {
        BOBBIN_TRY(auto http, HttpService::start(config.http.listen, *control_, config.store.path));
        changes.http.emplace(std::move(http));
    }
    return changes;
}

Result<> Service::replace_recording(std::unique_ptr<Recording> recording) {
    BOBBIN_CHECK(add_part(recording_->finish([] { return true; })));
    if (const auto counters = recording_->counters()) totals_.note(*counters);
    totals_.end_recording();
    recording_ = std::move(recording);
    return {};
}

Result<> Service::take_over(const config::DaemonConfig& config, Changes changes) {
    if (changes.recording) {
        BOBBIN_CHECK(replace_recording(std::move(changes.recording)));
    } else {
        BOBBIN_CHECK(add_part(recording_->cut()));
    }
    hand_on_segment();
    if (!exports_alike(config, config_)) exports_->use(config);
    config_ = config;
    wishes_.configure(config.profile.frequency_hz);
    budget_.configure(limits_of(config), config.profile.frequency_hz);
    namer_->use(names_of(config));
    if (changes.store) {
        store_ = std::move(changes.store);
    } else if (const auto set =
                   store_->set_limits({config.store.retention, config.store.max_bytes});
               !set) {
        spdlog::warn("{}", set.error().message());
    }
    begin_segment();
    if (changes.http) {
        // One of its threads may be the one that asked for this.
        retired_http_ = std::jthread([old = std::move(*http_)] {});
        http_.emplace(std::move(*changes.http));
    }
    spdlog::info("the configuration was read again");
    return apply_rate(Clock::now());
}

}  // namespace bobbin::service
