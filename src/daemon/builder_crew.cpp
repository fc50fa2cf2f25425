// SPDX-License-Identifier: Apache-2.0
#include "daemon/builder_crew.h"

#include <malloc.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "daemon/build_budget.h"
#include "daemon/thread_times.h"
#include "executable/build_cost.h"
#include "executable/file_status.h"
#include "executable/run_first.h"

namespace bobbin::daemon {
namespace {

constexpr std::chrono::seconds kPatienceAtEnd{2};

std::string path_of(const executable::OpenedFile& file) {
    const auto status = executable::status_of(file.fd.get());
    return status ? executable::name_of(file.fd.get(), *status) : std::string();
}

// glibc raises the size from which a block is a mapping of its own, up to 32 MiB, whenever one is
// freed; from then on the rows of each large file stay in a builder's arena. What is said holds.
void give_large_blocks_back() {
#ifdef __GLIBC__
    constexpr int kLargeBytes = 1 << 20;
    ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
    ::mallopt(M_TRIM_THRESHOLD, 2 * kLargeBytes);  // what glibc would make of the other
#endif
}

abi::announcement announcement_of(const executable::OpenedFile& file) {
    abi::announcement announcement{};
    announcement.key = file.key;
    announcement.executable_id = file.executable_id;
    return announcement;
}

}  // namespace

// Shared by the thread and the crew.
struct BuilderCrew::Builder {
    struct Task {
        std::uint64_t number = 0;
        abi::announcement announcement{};
        std::string path;
    };

    explicit Builder(bool only_small_files) : only_small(only_small_files) {}

    void begin(const executable::OpenedFile& file,
               std::optional<BuildBudget::Share> share = std::nullopt) {
        const std::scoped_lock lock(mutex);
        memory = std::move(share);
        task =
            Task{.number = ++task_count, .announcement = announcement_of(file), .path = file.path};
    }
    // False: somebody else has answered for the file meanwhile.
    bool finish() {
        const std::scoped_lock lock(mutex);
        memory.reset();
        return std::exchange(task, std::nullopt).has_value();
    }
    // The task, if it is still that one; the builder has none any more.
    std::optional<Task> take_away(std::uint64_t number) {
        const std::scoped_lock lock(mutex);
        if (!task || task->number != number) return std::nullopt;
        memory.reset();
        return std::exchange(task, std::nullopt);
    }
    std::uint64_t current_task() {
        const std::scoped_lock lock(mutex);
        return task ? task->number : 0;
    }
    void end() {
        {
            const std::scoped_lock lock(mutex);
            has_ended = true;
        }
        ended.notify_all();
    }
    bool wait_for_end(Clock::time_point deadline) {
        std::unique_lock lock(mutex);
        return ended.wait_until(lock, deadline, [this] { return has_ended; });
    }

    const bool only_small;
    std::atomic<pid_t> tid = 0;
    std::mutex mutex;
    std::condition_variable ended;
    bool has_ended = false;
    std::uint64_t task_count = 0;
    std::optional<Task> task;
    std::optional<BuildBudget::Share> memory;  // of the task
};

// What the crew alone knows of a builder.
struct BuilderCrew::Member {
    std::shared_ptr<Builder> builder;
    std::jthread thread;
    std::uint64_t watched_task = 0;
    Clock::time_point watched_since;
    ThreadTimes times_then;

    // How long the present task has kept the thread asleep since it was first looked at.
    Clock::duration asleep(Clock::time_point now) {
        const std::uint64_t task = builder->current_task();
        const auto times = thread_times(builder->tid);
        if (task == 0 || !times) return {};
        if (task != watched_task) {
            watched_task = task;
            watched_since = now;
            times_then = *times;
        }
        // A thread that wants a CPU is not asleep, and how long it has wanted one is not told yet.
        if (!times->is_asleep) return {};
        return (now - watched_since) - (times->ran - times_then.ran) -
               (times->waited_for_cpu - times_then.waited_for_cpu);
    }
};

BuilderCrew::BuilderCrew(std::shared_ptr<FilesInFlight> files, std::size_t count)
    : files_(std::move(files)) {
    give_large_blocks_back();
    hire(true);
    for (std::size_t i = 0; i < count; ++i) hire(false);
}

BuilderCrew::~BuilderCrew() {
    const auto deadline = Clock::now() + kPatienceAtEnd;
    for (const auto& member : members_) member->thread.request_stop();
    for (const auto& member : members_) {
        if (!member->builder->wait_for_end(deadline)) member->thread.detach();
    }
}

void BuilderCrew::hire(bool only_small) {
    auto member = std::make_unique<Member>();
    member->builder = std::make_shared<Builder>(only_small);
    member->thread =
        std::jthread([files = files_, builder = member->builder](const std::stop_token& stop) {
            run(stop, *files, *builder);
            builder->end();
        });
    members_.push_back(std::move(member));
}

void BuilderCrew::run(const std::stop_token& stop, FilesInFlight& files, Builder& builder) {
    builder.tid = ::gettid();
    executable::run_behind();
    while (auto file = builder.only_small ? files.opened.pop_small(stop) : files.opened.pop(stop)) {
        if (file->path.empty()) file->path = path_of(*file);
        builder.begin(*file);
        const std::uint64_t bytes = executable::estimate_build_bytes(*file);
        if (!builder.finish()) return;
        if (files.is_too_large(bytes)) {
            files.lose(announcement_of(*file), executable::LostReason::kTooLarge, file->path);
            continue;
        }
        // While no task is begun: waiting here is not the file system's fault.
        auto share = builder.only_small ? files.build_budget.take_reserved(bytes, stop)
                                        : files.build_budget.take(bytes, stop);
        if (!share) return;
        builder.begin(*file, std::move(share));
        auto built = executable::build_executable(std::move(*file), files.shared_rules,
                                                  files.known_tables.get());
        if (built.executable.file) built.executable.file->look_up_path();
        if (!builder.finish()) return;
        files.built.push(std::move(built));
    }
}

void BuilderCrew::leave_stuck_behind(Clock::time_point now) {
    for (std::size_t i = 0; i < members_.size();) {
        Member& member = *members_[i];
        std::optional<Builder::Task> task;
        if (member.asleep(now) > kMaxSleep) task = member.builder->take_away(member.watched_task);
        if (!task) {
            ++i;
            continue;
        }
        spdlog::debug("{} kept its reader waiting for {} s", task->path, kMaxSleep.count());
        files_->note_silent(task->announcement.key.device);
        files_->lose(task->announcement, executable::LostReason::kTooSlow, task->path);
        const bool only_small = member.builder->only_small;
        member.thread.detach();
        members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
        if (++left_behind_count_ <= kMaxLeftBehind) hire(only_small);
    }
}

}  // namespace bobbin::daemon
