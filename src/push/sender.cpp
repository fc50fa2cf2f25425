// SPDX-License-Identifier: Apache-2.0
#include "push/sender.h"

#include <random>
#include <utility>

#include "profile/merge_profiles.h"
#include "profile/read_pprof.h"
#include "push/back_end.h"

namespace bobbin::push {

Sender::Sender(Target target, Labels labels, const Options& options)
    : target_(std::move(target)),
      labels_(std::move(labels)),
      profiles_together_(options.profiles_together),
      deadlines_(options.deadlines),
      first_wait_(options.first_wait),
      spool_(options.directory, options.max_bytes),
      schedule_(options.schedule, std::random_device{}()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Sender::~Sender() = default;

Result<> Sender::take(std::string_view pprof) { return spool_.append(pprof); }

void Sender::run(const std::stop_token& stop) {
    SendSchedule::Wait wait = first_wait_;
    while (!stop.stop_requested()) {
        std::unique_lock lock(wait_mutex_);
        wait_.wait_for(lock, stop, wait, [] { return false; });
        lock.unlock();
        if (!stop.stop_requested()) wait = send_all(stop);
    }
}

SendSchedule::Wait Sender::send_all(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (batch_.items.empty() && !load_batch()) return schedule_.after_round();
        if (batch_.requests.empty()) {
            finish_batch();
            continue;
        }
        const Request& request = batch_.requests.front();
        const Attempt attempt = send_request(target_, request, deadlines_, stop);
        if (stop.stop_requested() && attempt.outcome == Attempt::Outcome::kLater) break;
        note(attempt, request.body.size());
        if (attempt.outcome == Attempt::Outcome::kLater) {
            return schedule_.after_failure(attempt.asked_for);
        }
        schedule_.note_success();
        if (attempt.outcome == Attempt::Outcome::kRefused) batch_.is_refused = true;
        batch_.requests.pop_front();
    }
    return {};
}

// False: nothing waits.
bool Sender::load_batch() {
    while (batch_.items.empty()) {
        const std::vector<Spool::Item> items = spool_.oldest(profiles_together_);
        if (items.empty()) return false;
        const symbolize::NamedProfile merged = merge(items);
        if (batch_.items.empty()) continue;
        auto requests = make_requests(target_, merged, labels_);
        if (!requests) {
            for (const Spool::Item& item : batch_.items) drop(item, requests.error().message());
            batch_ = {};
            continue;
        }
        batch_.requests.assign(std::move_iterator(requests->begin()),
                               std::move_iterator(requests->end()));
    }
    return true;
}

// One that cannot be read was damaged by a loss of power, or by somebody.
symbolize::NamedProfile Sender::merge(const std::vector<Spool::Item>& items) {
    profile::ProfileMerger merger;
    for (const Spool::Item& item : items) {
        const auto bytes = spool_.read(item);
        const auto profile = bytes ? profile::read_pprof(*bytes) : fail(bytes.error());
        if (profile) {
            merger.add(*profile);
            batch_.items.push_back(item);
        } else {
            drop(item, profile.error().message());
        }
    }
    return merger.take();
}

void Sender::drop(const Spool::Item& item, const std::string& why) {
    const bool was_there = spool_.remove(item);
    const std::scoped_lock lock(facts_mutex_);
    if (!was_there) return;
    ++facts_.dropped_count;
    ++facts_.error_count;
    facts_.last_error = why;
}

void Sender::note(const Attempt& attempt, std::size_t body_bytes) {
    const std::scoped_lock lock(facts_mutex_);
    facts_.last_error = attempt.why;
    if (attempt.outcome == Attempt::Outcome::kTaken) {
        facts_.sent_bytes += body_bytes;
    } else {
        ++facts_.error_count;
    }
}

// Those that were dropped for want of room meanwhile are counted there.
void Sender::finish_batch() {
    std::uint64_t count = 0;
    for (const Spool::Item& item : batch_.items) count += spool_.remove(item) ? 1 : 0;
    const std::scoped_lock lock(facts_mutex_);
    (batch_.is_refused ? facts_.dropped_count : facts_.sent_count) += count;
    batch_ = {};
}

Sender::Facts Sender::facts() const {
    const Spool::Facts waiting = spool_.facts();
    const std::scoped_lock lock(facts_mutex_);
    Facts facts = facts_;
    facts.queued_count = waiting.count;
    facts.queued_bytes = waiting.bytes;
    facts.dropped_count += waiting.dropped_count;
    return facts;
}

}  // namespace bobbin::push
