// SPDX-License-Identifier: Apache-2.0
#include "service/service.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "service/notify.h"
#include "service/own_cost.h"
#include "service/sampling_config.h"
#include "service/service_control.h"

namespace bobbin::service {
namespace {

constexpr std::chrono::seconds kSecond{1};
constexpr unsigned kSecondsPerStatus = 10;
// At the end, of the two seconds that are promised: for tables that samples wait for, and for
// names.
constexpr std::chrono::milliseconds kPatienceWithTables{300};
constexpr std::chrono::milliseconds kPatienceWithNames{600};
// A segment ends early when its stacks take more; named, they take several times as much.
constexpr std::uint64_t kMaxOpenStackBytes = 12ULL << 20;

}  // namespace

Service::Service(std::string config_path, const config::DaemonConfig& config,
                 daemon::Signals& signals)
    : config_path_(std::move(config_path)),
      config_(config),
      signals_(signals),
      wishes_(config.profile.frequency_hz),
      budget_(limits_of(config), config.profile.frequency_hz) {}

Service::~Service() = default;

tl::expected<std::unique_ptr<Service>, cli::UserError> Service::start(
    std::string config_path, const config::DaemonConfig& config, daemon::Signals& signals) {
    std::unique_ptr<Service> service(new Service(std::move(config_path), config, signals));
    if (auto begun = service->begin(); !begun) return tl::unexpected(std::move(begun).error());
    return service;
}

tl::expected<void, cli::UserError> Service::begin() {
    const auto fail = [](const Error& error) {
        return tl::unexpected(cli::explain_failure(error));
    };
    auto questions = QuestionQueue::open();
    if (!questions) return fail(questions.error());
    questions_ = std::move(*questions);
    auto store =
        SegmentStore::open(config_.store.path, {config_.store.retention, config_.store.max_bytes});
    if (!store) return fail(store.error());
    store_ = std::move(*store);
    exports_.emplace(config_);
    auto recording = Recording::start(sampling_config(config_), wishes_.hz(Clock::now()));
    if (!recording) return tl::unexpected(std::move(recording).error());
    recording_ = std::move(*recording);
    begin_segment();
    const auto take = [this](const Segment& segment, const symbolize::NamedProfile& profile) {
        segment.store->append(profile);
        exports_->take(profile);
    };
    const auto note_lost = [](const Segment& segment) { segment.store->note_lost(); };
    namer_ = std::make_unique<SegmentNamer>(
        SegmentNamer::Receiver{.take = take, .note_lost = note_lost}, names_of(config_));
    control_ = make_control(*this);
    auto http = HttpService::start(config_.http.listen, *control_, config_.store.path);
    if (!http) return fail(http.error());
    http_.emplace(std::move(*http));
    // Reading what runs already took more than will ever be needed again.
    ::malloc_trim(0);
    return {};
}

Result<> Service::run() {
    next_second_ = Clock::now() + kSecond;
    BOBBIN_CHECK(each_second(Clock::now()));
    notify_ready();
    spdlog::info("sampling at {} Hz, stored in {}{}", recording_->hz(), store_path(),
                 http_->place().empty() ? "" : ", answering at " + http_->place());
    while (!has_ended_) wait();
    notify_stopping();
    finish();
    return failure_;
}

void Service::wait() {
    const auto until = std::min(next_second_, open_.deadline());
    const auto left = std::max(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()),
                               std::chrono::milliseconds{0});
    pollfd waiting[] = {{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                        {.fd = questions_->fd(), .events = POLLIN, .revents = 0}};
    ::poll(waiting, std::size(waiting), static_cast<int>(left.count()));
    if (waiting[0].revents != 0) take_signals();
    if (waiting[1].revents != 0) questions_->answer_all();
    const auto now = Clock::now();
    Result<> done;
    if (now >= open_.deadline()) done = close_segment();
    if (now >= next_second_) {
        // Seconds that could not be looked at are left out.
        next_second_ = std::max(next_second_ + kSecond, now);
        if (done) done = each_second(now);
    }
    if (done) done = apply_rate(now);
    if (!done) {
        spdlog::critical("sampling cannot go on: {}", done.error().message());
        failure_ = std::move(done);
        has_ended_ = true;
    }
}

void Service::take_signals() {
    while (const auto event = signals_.take()) {
        if (event->signal != SIGHUP) {
            has_ended_ = true;
        } else if (const auto reloaded = reload(); !reloaded) {
            spdlog::error("the configuration stays as it was: {}", reloaded.error().message());
        }
    }
}

Result<> Service::each_second(Clock::time_point now) {
    recording_->follow_online_cpus();
    if (const auto counters = recording_->counters()) totals_.note(*counters);
    if (seconds_ % kSecondsPerStatus == 0) {
        map_bytes_ = recording_->sampling().program.map_bytes();
        look_at_units();
    }
    look_at_kill_switch();
    BOBBIN_CHECK(look_at_budget(now));
    if (open_.stack_bytes() + recording_->sampling().sample_walk->stack_bytes() >
        kMaxOpenStackBytes) {
        open_.note("closed early: its stacks took all the room there is for them");
        BOBBIN_CHECK(close_segment());
    }
    tell_manager(now);
    ++seconds_;
    return {};
}

void Service::look_at_kill_switch() {
    const bool is_on = kill_switch_.is_on();
    if (wishes_.is_killed() == is_on) return;
    wishes_.kill(is_on);
    spdlog::warn("{} {}", kill_switch_.path(),
                 is_on ? "is there: nothing is sampled" : "is gone: sampling goes on");
}

// A unit that starts again has another cgroup.
void Service::look_at_units() {
    if (config_.profile.units.empty()) return;
    const auto cgroups = sampling_config(config_).cgroup_ids;
    if (const auto followed = recording_->follow_cgroups(cgroups); !followed) {
        spdlog::warn("{}", followed.error().message());
    }
}

Result<> Service::look_at_budget(Clock::time_point now) {
    const auto naming = namer_->cpu_time();
    resident_bytes_ = resident_bytes() + (namer_->is_busy() ? children_bytes() : 0);
    const Usage usage{
        .at = now,
        .sampling_cpu_time =
            own_cpu_time() - naming + std::chrono::nanoseconds{totals_.counters().tick_time_ns},
        .naming_cpu_time = naming + child_cpu_time(),
        .memory_bytes = resident_bytes_ + map_bytes_};
    const std::uint32_t before = budget_.hz();
    const auto advice = budget_.observe(usage, wishes_.is_boosted(now));
    if (advice.hz != before) {
        const std::string text = fmt::format(
            "budget: {} Hz instead of {} ({:.2f} % of a CPU, {} MiB)", advice.hz,
            config_.profile.frequency_hz, budget_.cpu_percent(), usage.memory_bytes >> 20);
        spdlog::log(advice.hz < before ? spdlog::level::warn : spdlog::level::info, "{}", text);
        open_.note(text);
    }
    wishes_.allow(advice.hz);
    if (advice.memory == Budget::Memory::kEnough) return {};
    namer_->forget();
    open_.note("closed early: over the memory budget");
    BOBBIN_CHECK(close_segment());
    ::malloc_trim(0);
    return {};
}

void Service::tell_manager(Clock::time_point now) {
    if (seconds_ % kSecondsPerStatus == 0) notify_status(describe_state());
    heartbeat_.beat(now, recording_->sampling().sample_walk->read_count(), namer_->is_well());
}

Result<> Service::add_part(Result<Part> part) {
    if (!part) return fail(std::move(part).error());
    totals_.add(*part);
    open_.add(std::move(*part));
    return {};
}

Result<> Service::apply_rate(Clock::time_point now) {
    const std::uint32_t hz = wishes_.hz(now);
    if (hz == recording_->hz()) return {};
    BOBBIN_CHECK(recording_->change_rate(hz));
    if (hz == 0) {
        spdlog::warn("sampling pauses: {}", wishes_.paused_why());
    } else {
        spdlog::info("sampling at {} Hz", hz);
    }
    notify_status(describe_state());
    return {};
}

Result<> Service::close_segment() {
    BOBBIN_CHECK(add_part(recording_->cut()));
    hand_on_segment();
    begin_segment();
    return {};
}

void Service::hand_on_segment() { namer_->push(open_.take()); }

void Service::begin_segment() { open_.begin(config_.store.segment, store_); }

// Whoever tells it to end once more waits for nothing but the disk.
void Service::finish() {
    questions_->refuse_more();
    exports_->request_stop();
    bool is_told_again = false;
    const auto is_over = [&](Clock::time_point deadline) {
        while (const auto event = signals_.take()) is_told_again |= event->signal != SIGHUP;
        return is_told_again || Clock::now() >= deadline;
    };
    const auto tables = Clock::now() + kPatienceWithTables;
    const auto last = add_part(recording_->finish([&] { return is_over(tables); }));
    if (!last) spdlog::error("{}", last.error().message());
    hand_on_segment();
    const auto names = Clock::now() + kPatienceWithNames;
    has_left_a_thread_ = !namer_->finish([&] { return is_over(names); });
    http_.reset();
}

}  // namespace bobbin::service
