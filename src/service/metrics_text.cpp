// SPDX-License-Identifier: Apache-2.0
#include "service/metrics_text.h"

#include <prometheus/text_serializer.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "cli/record_summary.h"
#include "profile/walk_end_name.h"
#include "report/explain.h"

namespace bobbin::service {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<prometheus::ClientMetric::Label>;

template <class Number>
double to_double(Number number) {
    return static_cast<double>(number);
}
double in_seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}
double since_epoch(std::chrono::system_clock::time_point time) {
    // Its own unit would print as 1.7e+09 and lose the seconds.
    return std::floor(in_seconds(time.time_since_epoch()));
}

// One name with its help and values.
class Family {
public:
    Family(MetricType type, std::string name, std::string help) {
        family_.name = std::move(name);
        family_.help = std::move(help);
        family_.type = type;
    }
    Family& add(double value, Labels labels = {}) {
        prometheus::ClientMetric metric;
        metric.label = std::move(labels);
        (family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
        family_.metric.push_back(std::move(metric));
        return *this;
    }
    void add(const NamingTimes& times) {
        prometheus::ClientMetric metric;
        metric.histogram.sample_count = times.count;
        metric.histogram.sample_sum = times.sum.count();
        for (std::size_t i = 0; i < times.count_up_to.size(); ++i) {
            metric.histogram.bucket.push_back({.cumulative_count = times.count_up_to.at(i),
                                               .upper_bound = NamingTimes::kBounds.at(i)});
        }
        family_.metric.push_back(std::move(metric));
    }
    MetricFamily take() { return std::move(family_); }

private:
    MetricFamily family_;
};

class Page {
public:
    Family& counter(std::string name, std::string help) {
        return families_.emplace_back(MetricType::Counter, std::move(name), std::move(help));
    }
    Family& gauge(std::string name, std::string help) {
        return families_.emplace_back(MetricType::Gauge, std::move(name), std::move(help));
    }
    Family& histogram(std::string name, std::string help) {
        return families_.emplace_back(MetricType::Histogram, std::move(name), std::move(help));
    }
    std::string text() {
        std::vector<MetricFamily> families;
        families.reserve(families_.size());
        for (Family& family : families_) families.push_back(family.take());
        return prometheus::TextSerializer().Serialize(families);
    }

private:
    std::vector<Family> families_;
};

void add_samples(const Status& status, Page& page) {
    Family& samples =
        page.counter("bobbin_samples_total", "Ticks by what was on the CPU, without lost ones.");
    for (std::size_t i = 0; i < abi::TICK_OUTCOME_COUNT; ++i) {
        const auto outcome = static_cast<abi::tick_outcome>(i);
        if (is_lost(outcome)) continue;
        samples.add(to_double(status.ticks_by_outcome.at(i)),
                    {{"kind", std::string(name_of(outcome))}});
    }
    Family& lost = page.counter("bobbin_lost_samples_total", "Ticks that gave no sample.");
    for (std::size_t i = 0; i < abi::TICK_OUTCOME_COUNT; ++i) {
        const auto outcome = static_cast<abi::tick_outcome>(i);
        if (!is_lost(outcome)) continue;
        lost.add(to_double(status.ticks_by_outcome.at(i)),
                 {{"reason", std::string(name_of(outcome))}});
    }
}

void add_stacks(const Status& status, Page& page) {
    std::uint64_t all = 0;
    for (const std::uint64_t count : status.stacks_by_end) all += count;
    const std::uint64_t complete = cli::complete_stacks(status.stacks_by_end);
    page.counter("bobbin_stacks_total", "Stacks by whether they are whole.")
        .add(to_double(complete), {{"result", "complete"}})
        .add(to_double(all - complete), {{"result", "incomplete"}});
    Family& errors = page.counter("bobbin_unwind_errors_total", "Why stacks are not whole.");
    for (std::size_t i = 0; i < abi::WALK_END_COUNT; ++i) {
        const auto end = static_cast<abi::walk_end>(i);
        if (report::is_complete(end)) continue;
        errors.add(to_double(status.stacks_by_end.at(i)),
                   {{"reason", std::string(profile::name_of(end))}});
    }
}

void add_naming(const Status& status, Page& page) {
    page.histogram("bobbin_symbolize_seconds", "How long the names of a segment took.")
        .add(status.naming_times);
}

void add_sampling(const Status& status, Page& page) {
    page.gauge("bobbin_build_info", "1, with the version.").add(1, {{"version", BOBBIN_VERSION}});
    page.gauge("bobbin_sampling_hz", "Samples a second on each CPU, as it is; 0: paused.")
        .add(status.hz);
    page.gauge("bobbin_configured_hz", "Samples a second on each CPU, as configured.")
        .add(status.configured_hz);
    page.gauge("bobbin_paused", "1 while no samples are taken.")
        .add(status.paused_why.empty() ? 0 : 1);
    page.gauge("bobbin_processes", "Processes sampled in the open segment.")
        .add(to_double(status.process_count));
    page.counter("bobbin_budget_throttles_total", "Times that the rate fell to keep the budget.")
        .add(to_double(status.throttle_count));
    page.counter("bobbin_cpu_seconds_total", "CPU time that profiling took.")
        .add(in_seconds(status.cpu_time), {{"where", "user"}})
        .add(in_seconds(status.bpf_cpu_time), {{"where", "bpf"}});
    page.gauge("bobbin_bpf_map_bytes", "Memory of BPF maps.").add(to_double(status.map_bytes));
}

void add_store(const Status::Stored& stored, Page& page) {
    page.gauge("bobbin_store_segments", "Segments in the store.")
        .add(to_double(stored.segment_count));
    page.gauge("bobbin_store_bytes", "Size of the store.").add(to_double(stored.bytes));
    page.gauge("bobbin_store_oldest_timestamp_seconds", "When the oldest segment began; 0: none.")
        .add(since_epoch(stored.oldest));
    page.gauge("bobbin_store_newest_timestamp_seconds", "When the newest segment began; 0: none.")
        .add(since_epoch(stored.newest));
    page.counter("bobbin_store_written_segments_total", "Segments written.")
        .add(to_double(stored.written_count));
    page.counter("bobbin_store_failed_segments_total", "Segments that could not be written.")
        .add(to_double(stored.failed_count));
    page.gauge("bobbin_store_full", "1 while there is no room for a segment.")
        .add(stored.is_full ? 1 : 0);
}

void add_exports(const Status& status, Page& page) {
    if (status.exports.empty()) return;
    const auto add = [&](Family& family, auto member) {
        for (const Status::Exported& to : status.exports) {
            family.add(to_double(to.*member), {{"to", to.to}});
        }
    };
    using Exported = Status::Exported;
    add(page.counter("bobbin_export_profiles_total", "Profiles that a back end took."),
        &Exported::sent_count);
    add(page.counter("bobbin_export_bytes_total", "Bytes that a back end took."),
        &Exported::sent_bytes);
    add(page.gauge("bobbin_export_queue_bytes", "Bytes that wait on disk."),
        &Exported::queued_bytes);
    add(page.counter("bobbin_export_dropped_total", "Profiles dropped, oldest first."),
        &Exported::dropped_count);
    add(page.counter("bobbin_export_errors_total", "Attempts that failed."),
        &Exported::error_count);
}

void add_process(const Status& status, Page& page) {
    page.counter("process_cpu_seconds_total", "CPU time of the service and what it started.")
        .add(in_seconds(status.cpu_time));
    page.gauge("process_resident_memory_bytes", "Resident memory.")
        .add(to_double(status.resident_bytes));
    page.gauge("process_start_time_seconds", "When the service started.")
        .add(since_epoch(status.started));
}

}  // namespace

std::string metrics_text(const Status& status) {
    Page page;
    add_sampling(status, page);
    add_samples(status, page);
    add_stacks(status, page);
    add_naming(status, page);
    add_store(status.stored, page);
    add_exports(status, page);
    add_process(status, page);
    return page.text();
}

bool is_lost(abi::tick_outcome outcome) {
    std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT> one{};
    one.at(outcome) = 1;
    return cli::lost_ticks(one) != 0;
}

std::string_view name_of(abi::tick_outcome outcome) {
    constexpr std::array<std::string_view, abi::TICK_OUTCOME_COUNT> kNames{
#define X(enumerator, name, text) name,
        BOBBIN_TICK_OUTCOMES(X)
#undef X
    };
    return kNames.at(outcome);
}

}  // namespace bobbin::service
