// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/record_summary.h"
#include "profile/walk_end_name.h"

namespace bobbin::cli {
namespace {

nlohmann::ordered_json ticks_json(
    const std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT>& outcomes) {
    nlohmann::ordered_json ticks;
    std::size_t outcome = 0;
#define X(enumerator, name, text) ticks[name] = outcomes.at(outcome++);
    BOBBIN_TICK_OUTCOMES(X)
#undef X
    return ticks;
}

nlohmann::ordered_json ends_json(const std::array<std::uint64_t, abi::WALK_END_COUNT>& ends) {
    auto json = nlohmann::ordered_json::object();
    for (std::size_t end = 0; end < ends.size(); ++end) {
        if (ends.at(end) == 0) continue;
        json[std::string(profile::name_of(static_cast<abi::walk_end>(end)))] = ends.at(end);
    }
    return json;
}

template <class Range, class Make>
nlohmann::ordered_json list_of(const Range& range, Make make) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& one : range) list.push_back(make(one));
    return list;
}

}  // namespace

std::string to_json(const RecordSummary& summary) {
    using Object = nlohmann::ordered_json;
    const Object json{{"duration_ns", summary.duration.count()},
                      {"frequency_hz", summary.frequency_hz},
                      {"cpus", summary.cpu_count},
                      {"processes", summary.process_count},
                      {"samples", summary.sample_count},
                      {"complete", complete_stacks(summary.by_walk_end)},
                      {"lost", lost_ticks(summary.by_tick_outcome)},
                      {"ticks", ticks_json(summary.by_tick_outcome)},
                      {"stack_ends", ends_json(summary.by_walk_end)},
                      {"frames", summary.frame_count},
                      {"named", summary.named_frame_count},
                      {"hottest", list_of(summary.hottest,
                                          [](const RecordSummary::HotFunction& hot) {
                                              return Object{{"process", hot.process},
                                                            {"function", hot.function},
                                                            {"share", hot.share_of_samples}};
                                          })},
                      {"refused_files", list_of(summary.refused_files,
                                                [](const RecordSummary::RefusedFile& file) {
                                                    return Object{{"path", file.path},
                                                                  {"reason", file.reason}};
                                                })},
                      {"own_cpu_ns", summary.own_cpu_time.count()},
                      {"bpf_ns", summary.bpf_time.count()},
                      {"peak_rss_bytes", summary.peak_rss_bytes},
                      {"bpf_map_bytes", summary.bpf_map_bytes},
                      {"files", list_of(summary.files, [](const output::WrittenFile& file) {
                           return Object{{"path", file.path}, {"size_bytes", file.size_bytes}};
                       })}};
    // Names of functions and files are any bytes.
    return json.dump(-1, ' ', false, Object::error_handler_t::replace) + "\n";
}

}  // namespace bobbin::cli
