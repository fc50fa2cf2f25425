// SPDX-License-Identifier: Apache-2.0
#include "service/segment_namer.h"

#include <malloc.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace bobbin::service {
namespace {

using SharedSegment = std::shared_ptr<const Segment>;

// How often somebody is asked for haste.
constexpr std::chrono::milliseconds kHasteInterval{20};

daemon::NamedStacks name_without_files(const Part& part, const aggregate::CountedStacks& counted) {
    return daemon::name(counted, *part.sampling, symbolize::Names::kSkip);
}

}  // namespace

SegmentNamer::SegmentNamer(Receiver receiver, symbolize::Names names)
    : receiver_(std::move(receiver)),
      names_how_(names),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void SegmentNamer::push(SharedSegment segment) {
    {
        const std::scoped_lock lock(mutex_);
        jobs_.emplace_back(std::move(segment));
        drop_oldest();
    }
    changed_.notify_all();
}

// But for the one in hand.
void SegmentNamer::drop_oldest() {
    const auto is_segment = [](const Job& job) {
        return std::holds_alternative<SharedSegment>(job);
    };
    if (std::ranges::count_if(jobs_, is_segment) <= static_cast<std::ptrdiff_t>(kMaxWaiting)) {
        return;
    }
    const auto first = std::next(jobs_.begin(), busy_since_ ? 1 : 0);
    const auto oldest = std::find_if(first, jobs_.end(), is_segment);
    receiver_.note_lost(*std::get<SharedSegment>(*oldest));
    jobs_.erase(oldest);
}

std::future<symbolize::NamedProfile> SegmentNamer::name(Parts parts) {
    Question question{.parts = std::move(parts), .answer = {}};
    auto answer = question.answer.get_future();
    {
        const std::scoped_lock lock(mutex_);
        jobs_.emplace_back(std::move(question));
    }
    changed_.notify_all();
    return answer;
}

Parts SegmentNamer::waiting_parts() const {
    Parts parts;
    const std::scoped_lock lock(mutex_);
    for (const Job& job : jobs_) {
        const auto* const segment = std::get_if<SharedSegment>(&job);
        if (segment != nullptr) std::ranges::copy((*segment)->parts, std::back_inserter(parts));
    }
    return parts;
}

void SegmentNamer::use(symbolize::Names names) {
    const std::scoped_lock lock(mutex_);
    names_how_ = names;
}

void SegmentNamer::forget() {
    const std::scoped_lock lock(mutex_);
    wants_to_forget_ = true;
}

bool SegmentNamer::is_well() const {
    const std::scoped_lock lock(mutex_);
    return !busy_since_ || Clock::now() - *busy_since_ < kLongestBusy;
}

bool SegmentNamer::is_busy() const {
    const std::scoped_lock lock(mutex_);
    return busy_since_.has_value();
}

NamingTimes SegmentNamer::times() const {
    const std::scoped_lock lock(mutex_);
    return times_;
}

std::chrono::nanoseconds SegmentNamer::cpu_time() {
    clockid_t clock{};
    timespec time{};
    if (::pthread_getcpuclockid(thread_.native_handle(), &clock) != 0) return {};
    if (::clock_gettime(clock, &time) != 0) return {};
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

daemon::NamedStacks SegmentNamer::name(const Part& part, const aggregate::CountedStacks& counted) {
    symbolize::Names names{};
    bool forgets = false;
    {
        const std::scoped_lock lock(mutex_);
        names = names_how_;
        forgets = std::exchange(wants_to_forget_, false);
    }
    if (sampling_ != part.sampling) {
        segment_names_.reset();
        sampling_ = part.sampling;
        segment_names_.emplace(*sampling_);
    } else if (forgets) {
        segment_names_->forget();
    }
    return names == symbolize::Names::kResolve ? segment_names_->name(counted)
                                               : name_without_files(part, counted);
}

NameCounted SegmentNamer::name_counted() {
    return [this](const Part& part, const aggregate::CountedStacks& counted) {
        return name(part, counted);
    };
}

symbolize::NamedProfile SegmentNamer::make_profile(const Segment& segment) {
    const auto begun = Clock::now();
    auto profile = make_segment_profile(segment, name_counted());
    const std::scoped_lock lock(mutex_);
    times_.add(Clock::now() - begun);
    return profile;
}

void SegmentNamer::hand_on(const Segment& segment) {
    const symbolize::NamedProfile profile = make_profile(segment);
    if (segment_names_) segment_names_->forget_gone_files();
    const std::scoped_lock lock(receiver_mutex_);
    if (is_given_up_) return;
    receiver_.take(segment, profile);
    handed_on_ = &segment;
}

void SegmentNamer::answer(Question& question) {
    std::vector<std::string> losses;
    auto profile = join_parts(question.parts, name_counted(), losses);
    profile.comments = std::move(losses);
    question.answer.set_value(std::move(profile));
}

void SegmentNamer::work_on(Job& job) {
    if (const auto* const segment = std::get_if<SharedSegment>(&job)) {
        hand_on(**segment);
    } else {
        answer(std::get<Question>(job));
    }
    // What a segment took for a moment would stay with the allocator until the next one.
    ::malloc_trim(0);
}

void SegmentNamer::run(const std::stop_token& stop) {
    while (true) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
        busy_since_ = Clock::now();
        // Stays in the queue, so that waiting_parts() tells of it.
        Job& job = jobs_.front();
        lock.unlock();
        work_on(job);
        lock.lock();
        jobs_.pop_front();
        busy_since_.reset();
        lock.unlock();
        changed_.notify_all();
    }
}

bool SegmentNamer::finish(const std::function<bool()>& is_in_a_hurry) {
    {
        std::unique_lock lock(mutex_);
        while (!jobs_.empty() && !is_in_a_hurry()) changed_.wait_for(lock, kHasteInterval);
        if (jobs_.empty()) return true;
    }
    // Waits for a segment that is being written right now.
    const std::scoped_lock handing_on(receiver_mutex_);
    const std::scoped_lock lock(mutex_);
    is_given_up_ = true;
    for (const Job& job : jobs_) {
        const auto* const segment = std::get_if<SharedSegment>(&job);
        if (segment == nullptr || segment->get() == handed_on_) continue;
        spdlog::warn("a segment is stored without names: they were not there in time");
        receiver_.take(**segment, make_segment_profile(**segment, name_without_files));
    }
    return false;
}

}  // namespace bobbin::service
