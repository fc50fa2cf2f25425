// SPDX-License-Identifier: Apache-2.0
#include "daemon/code_map_keeper.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "daemon/sampled_process.h"

namespace bobbin::daemon {

using symbolize::CodeMaps;
using symbolize::ProcessId;

namespace {

constexpr std::chrono::seconds kSecondLookAfter{1};
constexpr std::chrono::seconds kPatienceWithWatch{2};

}  // namespace

// What the keeper and its thread share, and own with each other. Any thread.
class CodeMapKeeper::Shelf {
public:
    // Readable when there is something to take.
    [[nodiscard]] int wake_fd() const { return wake_.get(); }
    void wake() const { ::eventfd_write(wake_.get(), 1); }

    void tell(const ProcessId& process) {
        {
            const std::scoped_lock lock(mutex_);
            noticed_.push_back(process);
        }
        wake();
    }
    struct Told {
        std::vector<ProcessId> noticed;
        std::uint64_t question = 0;  // number of the last; what is done after this answers it
    };
    // Whoever tells or asks after this wakes again.
    Told take() {
        eventfd_t ignored = 0;
        ::eventfd_read(wake_.get(), &ignored);
        const std::scoped_lock lock(mutex_);
        return {.noticed = std::exchange(noticed_, {}), .question = asked_};
    }

    void ask_and_wait(Clock::time_point deadline) {
        std::unique_lock lock(mutex_);
        const std::uint64_t question = ++asked_;
        wake();
        changed_.wait_until(lock, deadline, [&] { return answered_ >= question || has_ended_; });
    }
    void answer(std::uint64_t question) {
        {
            const std::scoped_lock lock(mutex_);
            answered_ = question;
        }
        changed_.notify_all();
    }

    void put_jitdump(const ProcessId& process, UniqueFd file) {
        const std::scoped_lock lock(mutex_);
        maps_[process].jitdump = std::make_shared<const UniqueFd>(std::move(file));
    }
    void put_perf_map(const ProcessId& process, UniqueFd file) {
        const std::scoped_lock lock(mutex_);
        maps_[process].perf_map = std::make_shared<const UniqueFd>(std::move(file));
    }
    CodeMaps find(const ProcessId& process) const {
        const std::scoped_lock lock(mutex_);
        const auto found = maps_.find(process);
        return found == maps_.end() ? CodeMaps{} : found->second;
    }

    template <class Change>
    void count(Change change) {
        const std::scoped_lock lock(mutex_);
        change(counts_);
    }
    Counts counts() const {
        const std::scoped_lock lock(mutex_);
        return counts_;
    }

    void end() {
        {
            const std::scoped_lock lock(mutex_);
            has_ended_ = true;
        }
        changed_.notify_all();
    }
    bool wait_for_end(Clock::time_point deadline) {
        std::unique_lock lock(mutex_);
        return changed_.wait_until(lock, deadline, [this] { return has_ended_; });
    }

private:
    UniqueFd wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<ProcessId> noticed_;
    std::map<ProcessId, CodeMaps> maps_;
    std::uint64_t asked_ = 0;
    std::uint64_t answered_ = 0;
    bool has_ended_ = false;
    Counts counts_;
};

// What the thread does.
class CodeMapKeeper::Watch {
public:
    explicit Watch(std::shared_ptr<Shelf> shelf) : shelf_(std::move(shelf)) {}

    void run(const std::stop_token& stop) {
        const std::stop_callback wake(stop, [this] { shelf_->wake(); });
        while (true) {
            const std::vector<ProcessId> ended = wait();
            if (stop.stop_requested()) return;
            const Shelf::Told told = shelf_->take();
            for (const ProcessId& process : ended) take_leave(process);
            for (const ProcessId& process : told.noticed) begin(process);
            look_at_due(told.question != answered_);
            answered_ = told.question;
            shelf_->answer(told.question);
        }
    }

private:
    struct Watched {
        SampledProcess process;
        Clock::time_point next_look;
    };

    // Those that have ended meanwhile.
    std::vector<ProcessId> wait() const {
        std::vector<pollfd> polled{{.fd = shelf_->wake_fd(), .events = POLLIN, .revents = 0}};
        auto due = Clock::time_point::max();
        for (const auto& [id, watched] : watched_) {
            polled.push_back({.fd = watched.process.exit_fd(), .events = POLLIN, .revents = 0});
            due = std::min(due, watched.next_look);
        }
        ::poll(polled.data(), polled.size(), milliseconds_until(due));
        std::vector<ProcessId> ended;
        auto polled_process = polled.begin() + 1;
        for (const auto& [id, watched] : watched_) {
            if ((polled_process++)->revents != 0) ended.push_back(id);
        }
        return ended;
    }

    static int milliseconds_until(Clock::time_point due) {
        if (due == Clock::time_point::max()) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
        return static_cast<int>(std::max(left, std::chrono::milliseconds{0}).count());
    }

    void begin(const ProcessId& id) {
        if (watched_.contains(id)) return;
        if (watched_.size() + kept_count_ >= kMaxProcesses) {
            shelf_->count([](Counts& counts) { ++counts.left_out; });
            return;
        }
        auto process = SampledProcess::open(id);
        if (!process) {
            spdlog::debug("generated code of process {}: {}", id.pid, process.error().message());
            shelf_->count([](Counts& counts) { ++counts.gone; });
            return;
        }
        Watched& watched = watched_
                               .emplace(id, Watched{.process = std::move(*process),
                                                    .next_look = Clock::now() + kSecondLookAfter})
                               .first->second;
        look(id, watched.process);
    }

    void look_at_due(bool all) {
        const auto now = Clock::now();
        for (auto& [id, watched] : watched_) {
            if (!all && watched.next_look > now) continue;
            if (watched.next_look <= now) watched.next_look = Clock::time_point::max();
            look(id, watched.process);
        }
    }

    // What was there before is replaced only by what is there now.
    void look(const ProcessId& id, SampledProcess& process) {
        if (auto file = process.open_perf_map()) {
            shelf_->put_perf_map(id, std::move(*file));
        } else {
            tell(file.error());
        }
        if (shelf_->find(id).jitdump) return;
        if (auto file = process.open_jitdump()) {
            shelf_->put_jitdump(id, std::move(*file));
        } else {
            tell(file.error());
        }
    }

    void tell(const Error& error) {
        const int code = error.code().value();
        if (code == ENOENT || code == ESRCH) return;
        spdlog::debug("generated code: {}", error.message());
        shelf_->count([](Counts& counts) { ++counts.refused; });
    }

    void take_leave(const ProcessId& id) {
        const auto watched = watched_.find(id);
        look(id, watched->second.process);
        watched_.erase(watched);
        if (shelf_->find(id).has_any()) ++kept_count_;
    }

    std::shared_ptr<Shelf> shelf_;
    std::map<ProcessId, Watched> watched_;
    std::size_t kept_count_ = 0;  // files of those that have ended
    std::uint64_t answered_ = 0;
};

CodeMapKeeper::CodeMapKeeper() : shelf_(std::make_shared<Shelf>()) {
    thread_ = std::jthread([shelf = shelf_](const std::stop_token& stop) {
        Watch(shelf).run(stop);
        shelf->end();
    });
}

CodeMapKeeper::~CodeMapKeeper() {
    const Counts seen = counts();
    spdlog::debug("generated code: {} processes gone, {} left out, {} files refused", seen.gone,
                  seen.left_out, seen.refused);
    thread_.request_stop();
    if (!shelf_->wait_for_end(Clock::now() + kPatienceWithWatch)) thread_.detach();
}

void CodeMapKeeper::notice(const aggregate::RawSample& sample) {
    // 0: /proc does not show the process.
    if (sample.header->pid == 0) return;
    if (std::ranges::none_of(sample.user_frames, symbolize::is_generated)) return;
    const ProcessId process{.pid = sample.header->pid,
                            .start_boot_ns = sample.header->process_start_boot_ns};
    if (noticed_.find(process) != nullptr) return;
    noticed_.put(process, true);
    shelf_->tell(process);
}

void CodeMapKeeper::look_again(Clock::time_point deadline) { shelf_->ask_and_wait(deadline); }

CodeMaps CodeMapKeeper::find(const ProcessId& process) const { return shelf_->find(process); }

CodeMapKeeper::Counts CodeMapKeeper::counts() const { return shelf_->counts(); }

}  // namespace bobbin::daemon
