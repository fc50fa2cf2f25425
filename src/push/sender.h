// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "push/send_request.h"
#include "push/send_schedule.h"
#include "push/spool.h"
#include "push/target.h"
#include "symbolize/named_profile.h"

namespace bobbin::push {

// Sends to one target what it is given, on a thread of its own, oldest first. Whoever gives waits
// for the disk at most. What cannot be sent stays in the spool, also across a restart; each profile
// is sent in the end, dropped for want of room, or refused.
class Sender {
public:
    struct Options {
        std::string directory;  // of the spool
        std::uint64_t max_bytes = 64ULL << 20;
        // So many profiles are merged into one before they are sent.
        std::size_t profiles_together = 1;
        SendSchedule::Wait first_wait = std::chrono::seconds{1};
        SendSchedule::Limits schedule;
        Deadlines deadlines;
    };
    struct Facts {
        std::uint64_t sent_count = 0;  // profiles, as they were taken
        std::uint64_t sent_bytes = 0;  // bodies of requests
        std::uint64_t queued_count = 0;
        std::uint64_t queued_bytes = 0;
        std::uint64_t dropped_count = 0;  // refused ones and unreadable ones too
        std::uint64_t error_count = 0;    // attempts that failed
        std::string last_error;           // empty: the last attempt succeeded
    };

    Sender(Target target, Labels labels, const Options& options);
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;
    // Gives up what is under way, which stays in the spool.
    ~Sender();

    // A profile in pprof's format.
    Result<> take(std::string_view pprof);
    // So that several can give up at the same time.
    void request_stop() { thread_.request_stop(); }

    [[nodiscard]] Facts facts() const;
    [[nodiscard]] const Target& target() const { return target_; }

private:
    // What was merged and is being sent.
    struct Batch {
        std::vector<Spool::Item> items;
        std::deque<Request> requests;
        bool is_refused = false;  // one of its requests
    };

    void run(const std::stop_token& stop);
    SendSchedule::Wait send_all(const std::stop_token& stop);
    bool load_batch();
    symbolize::NamedProfile merge(const std::vector<Spool::Item>& items);
    void note(const Attempt& attempt, std::size_t body_bytes);
    void drop(const Spool::Item& item, const std::string& why);
    void finish_batch();

    Target target_;
    Labels labels_;
    std::size_t profiles_together_;
    Deadlines deadlines_;
    SendSchedule::Wait first_wait_;
    Spool spool_;
    SendSchedule schedule_;
    Batch batch_;
    mutable std::mutex facts_mutex_;
    Facts facts_;
    std::mutex wait_mutex_;
    std::condition_variable_any wait_;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace bobbin::push
