// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <variant>

#include "daemon/segment_names.h"
#include "service/naming_times.h"
#include "service/part.h"
#include "service/segment_profile.h"
#include "symbolize/name_stacks.h"
#include "symbolize/named_profile.h"

namespace bobbin::service {

// Names finished segments and hands them on, in a thread of its own: neither sampling nor who asks
// for the service's state waits for files, nor for a disk.
class SegmentNamer {
public:
    // Told of each finished segment, on this thread. The place for whoever wants them all.
    struct Receiver {
        std::function<void(const Segment&, const symbolize::NamedProfile&)> take;
        std::function<void(const Segment&)> note_lost;
    };

    // Segments that wait for names: more than a disk that stands still for minutes may pile up.
    static constexpr std::size_t kMaxWaiting = 4;
    // A thread that is busy with one for longer is not well.
    static constexpr std::chrono::minutes kLongestBusy{3};

    SegmentNamer(Receiver receiver, symbolize::Names names);
    SegmentNamer(const SegmentNamer&) = delete;
    SegmentNamer& operator=(const SegmentNamer&) = delete;
    ~SegmentNamer() = default;

    // Any thread, as all below. Where too many wait, the oldest is lost.
    void push(std::shared_ptr<const Segment> segment);
    // The answer is broken if the service ends first.
    std::future<symbolize::NamedProfile> name(Parts parts);
    // Segments that were not handed on yet, oldest first.
    [[nodiscard]] Parts waiting_parts() const;

    void use(symbolize::Names names);
    // Gives back what is remembered of names, before the next segment.
    void forget();

    [[nodiscard]] bool is_well() const;
    [[nodiscard]] bool is_busy() const;
    [[nodiscard]] std::chrono::nanoseconds cpu_time();
    [[nodiscard]] NamingTimes times() const;

    // Returns when all is handed on. Names that are not there when `is_in_a_hurry`, which is asked
    // every few milliseconds, are left out; then the thread is left behind and the process has to
    // end by _Exit: false.
    bool finish(const std::function<bool()>& is_in_a_hurry);

private:
    using Clock = std::chrono::steady_clock;
    struct Question {
        Parts parts;
        std::promise<symbolize::NamedProfile> answer;
    };
    using Job = std::variant<std::shared_ptr<const Segment>, Question>;

    void run(const std::stop_token& stop);
    void work_on(Job& job);
    symbolize::NamedProfile make_profile(const Segment& segment);
    void hand_on(const Segment& segment);
    void answer(Question& question);
    daemon::NamedStacks name(const Part& part, const aggregate::CountedStacks& counted);
    NameCounted name_counted();
    void drop_oldest();

    Receiver receiver_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::list<Job> jobs_;  // the first one may be in hand
    std::optional<Clock::time_point> busy_since_;
    symbolize::Names names_how_;
    bool wants_to_forget_ = false;
    NamingTimes times_;

    std::mutex receiver_mutex_;  // held while a segment is handed on
    // With receiver_mutex_:
    bool is_given_up_ = false;  // the rest is handed on without names
    const Segment* handed_on_ = nullptr;

    // The thread's own.
    std::shared_ptr<const daemon::Sampling> sampling_;
    std::optional<daemon::SegmentNames> segment_names_;
    std::jthread thread_;  // last: joined before the rest goes
};

}  // namespace bobbin::service
