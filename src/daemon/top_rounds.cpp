// SPDX-License-Identifier: Apache-2.0
#include "daemon/top_rounds.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

#include "cli/record_summary.h"
#include "daemon/summarize.h"
#include "sampler/outcome_counts.h"

namespace bobbin::daemon {
namespace {

// Names that are nearly there are waited for at the end.
constexpr std::chrono::milliseconds kPatienceWithNames{300};

// proc_pid_statm(5): the second number is what is resident, in pages.
std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    file >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Result<std::unique_ptr<TopRounds>> TopRounds::start(const Sampling& sampling, const TopPace& pace) {
    UniqueFd arrived(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!arrived.is_open()) return fail_with(errno, "eventfd");
    std::unique_ptr<TopRounds> rounds(new TopRounds(sampling, pace, std::move(arrived)));
    rounds->last_round_ = sampling.started_steady;
    rounds->thread_ =
        std::jthread([&self = *rounds](const std::stop_token& stop) { self.run(stop); });
    return rounds;
}

std::shared_ptr<const screen::Snapshot> TopRounds::fetch() {
    eventfd_t count = 0;
    ::eventfd_read(arrived_.get(), &count);
    const std::scoped_lock lock(mutex_);
    return std::exchange(latest_, nullptr);
}

bool TopRounds::stop() {
    thread_.request_stop();
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatienceWithNames, [this] { return has_ended_; });
}

void TopRounds::run(const std::stop_token& stop) {
    Clock::time_point next = Clock::now();
    while (!stop.stop_requested()) {
        // Rounds that could not be made in time are left out.
        next = std::max(next + pace_.interval, Clock::now());
        std::unique_lock lock(mutex_);
        changed_.wait_until(lock, stop, next, [] { return false; });
        lock.unlock();
        if (stop.stop_requested()) break;
        make_round(Clock::now());
    }
    {
        const std::scoped_lock lock(mutex_);
        has_ended_ = true;
    }
    changed_.notify_all();
}

void TopRounds::note_cost(std::chrono::nanoseconds bpf_time, screen::Snapshot& snapshot) {
    const Cost now{.at = Clock::now(),
                   .cpu_time = own_cpu_time() + names_.worker_cpu_time() + bpf_time};
    if (!costs_.empty()) {
        const Cost& then = costs_.front();
        const std::chrono::duration<double> wall = now.at - then.at;
        const std::chrono::duration<double> cpu = now.cpu_time - then.cpu_time;
        if (wall.count() > 0) snapshot.own_cpus = std::max(0.0, cpu / wall);
    }
    costs_.push_back(now);
    while (costs_.size() > 2 && now.at - costs_.front().at > kWindow) costs_.pop_front();
    snapshot.own_bytes = resident_bytes() + sampling_.program.map_bytes();
}

void TopRounds::make_round(Clock::time_point now) {
    window_.add(sampling_.sample_walk->take_counted(), now - std::exchange(last_round_, now));
    auto snapshot = std::make_shared<screen::Snapshot>();
    snapshot->profile = names_.name(window_.counted());
    for (symbolize::NamedStack& stack : snapshot->profile.stacks) stack.value = stack.count;
    snapshot->window = window_.duration();
    snapshot->elapsed = now - sampling_.started_steady;
    snapshot->frequency_hz = pace_.frequency_hz;
    snapshot->cpu_count = static_cast<std::uint32_t>(sampling_.cpus.size());
    snapshot->complete_count = cli::complete_stacks(snapshot->profile.by_walk_end);
    std::chrono::nanoseconds bpf_time{};
    if (const auto counters = sampler::read_outcome_counts(sampling_.program.outcome_counts_fd())) {
        snapshot->lost_count = cli::lost_ticks(outcomes_of(*counters));
        bpf_time = std::chrono::nanoseconds{counters->tick_time_ns};
    }
    note_cost(bpf_time, *snapshot);
    {
        const std::scoped_lock lock(mutex_);
        latest_ = std::move(snapshot);
    }
    ::eventfd_write(arrived_.get(), 1);
}

}  // namespace bobbin::daemon
