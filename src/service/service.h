// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tl/expected.hpp>

#include "base/result.h"
#include "cli/errors.h"
#include "config/daemon_config.h"
#include "daemon/signals.h"
#include "service/budget.h"
#include "service/control.h"
#include "service/exports.h"
#include "service/heartbeat.h"
#include "service/http_service.h"
#include "service/kill_switch.h"
#include "service/open_segment.h"
#include "service/question_queue.h"
#include "service/rate_wishes.h"
#include "service/recording.h"
#include "service/segment_namer.h"
#include "service/segment_store.h"
#include "service/totals.h"

namespace bobbin::service {

// Everything that runs in `bobbin daemon`, and the loop that holds it together: each second it
// looks at its own cost, at the kill switch and at who wants what; each segment it hands on what
// was counted. Main thread; other threads ask through questions().
class Service {
public:
    static tl::expected<std::unique_ptr<Service>, cli::UserError> start(
        std::string config_path, const config::DaemonConfig& config, daemon::Signals& signals);
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;
    ~Service();

    // Until SIGTERM or SIGINT. An error: sampling cannot go on; what there was is stored.
    Result<> run();
    // False: a thread was left behind, so the process has to end by _Exit.
    [[nodiscard]] bool may_be_destroyed() const { return !has_left_a_thread_; }

    // ---- for Control, any thread
    [[nodiscard]] QuestionQueue& questions() { return *questions_; }
    [[nodiscard]] SegmentNamer& namer() { return *namer_; }

    // ---- for Control, as questions
    [[nodiscard]] Status status() const;
    // What was not stored yet, up to this moment.
    Result<Parts> recent_parts();
    Result<int> begin_collecting();
    Result<Parts> end_collecting(int number);
    [[nodiscard]] std::string store_path() const { return store_->path(); }
    Result<> boost(std::uint32_t hz, std::chrono::nanoseconds duration);
    Result<> pause(bool is_paused);
    Result<> reload();

private:
    using Clock = std::chrono::steady_clock;
    // What another configuration needs, made before anything of it is taken over.
    struct Changes {
        std::unique_ptr<Recording> recording;
        std::shared_ptr<SegmentStore> store;
        std::optional<HttpService> http;
    };

    Service(std::string config_path, const config::DaemonConfig& config, daemon::Signals& signals);
    tl::expected<void, cli::UserError> begin();
    void wait();
    void take_signals();
    Result<> each_second(Clock::time_point now);
    Result<> look_at_budget(Clock::time_point now);
    void look_at_kill_switch();
    void look_at_units();
    void tell_manager(Clock::time_point now);
    [[nodiscard]] std::string describe_state() const;
    Result<> apply_rate(Clock::time_point now);
    Result<> add_part(Result<Part> part);
    Result<> close_segment();
    void hand_on_segment();
    void begin_segment();
    Result<Changes> prepare(const config::DaemonConfig& config);
    Result<> replace_recording(std::unique_ptr<Recording> recording);
    Result<> take_over(const config::DaemonConfig& config, Changes changes);
    void finish();

    std::string config_path_;
    config::DaemonConfig config_;
    daemon::Signals& signals_;
    KillSwitch kill_switch_ = KillSwitch::find();
    RateWishes wishes_;
    Budget budget_;
    std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
    std::unique_ptr<QuestionQueue> questions_;
    std::shared_ptr<SegmentStore> store_;  // that new segments are kept in
    std::optional<Exports> exports_;
    std::unique_ptr<Recording> recording_;
    OpenSegment open_;
    std::unique_ptr<SegmentNamer> namer_;
    std::unique_ptr<Control> control_;
    std::optional<HttpService> http_;
    std::jthread retired_http_;  // ends one that a reload replaced

    bool has_ended_ = false;
    bool has_left_a_thread_ = false;
    Result<> failure_;
    Clock::time_point next_second_;
    unsigned seconds_ = 0;
    Heartbeat heartbeat_;

    Totals totals_;
    std::uint64_t resident_bytes_ = 0;
    std::uint64_t map_bytes_ = 0;
};

}  // namespace bobbin::service
