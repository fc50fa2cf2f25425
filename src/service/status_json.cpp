// SPDX-License-Identifier: Apache-2.0
#include "service/status_json.h"

#include <nlohmann/json.hpp>

#include "cli/record_summary.h"
#include "profile/walk_end_name.h"
#include "service/metrics_text.h"

namespace bobbin::service {
namespace {

using Json = nlohmann::ordered_json;
using SystemTime = std::chrono::system_clock::time_point;

double fractional_seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}
Json seconds_or_null(SystemTime time) {
    if (time == SystemTime{}) return nullptr;
    return fractional_seconds(time.time_since_epoch());
}

// Names of processes and units are any bytes.
std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json stored_json(const Status::Stored& stored) {
    return {{"segment_count", stored.segment_count},
            {"bytes", stored.bytes},
            {"oldest", seconds_or_null(stored.oldest)},
            {"newest", seconds_or_null(stored.newest)},
            {"written_count", stored.written_count},
            {"failed_count", stored.failed_count},
            {"is_full", stored.is_full}};
}

Json export_json(const Status::Exported& to) {
    return {{"to", to.to},
            {"sent_count", to.sent_count},
            {"sent_bytes", to.sent_bytes},
            {"queued_bytes", to.queued_bytes},
            {"dropped_count", to.dropped_count},
            {"error_count", to.error_count},
            {"last_error", to.last_error}};
}

}  // namespace

std::string status_json(const Status& status) {
    Json json{{"version", BOBBIN_VERSION},
              {"started", seconds_or_null(status.started)},
              {"configured_hz", status.configured_hz},
              {"hz", status.hz},
              {"paused_why", status.paused_why},
              {"process_count", status.process_count},
              {"cpu_percent", status.cpu_percent},
              {"cpu_seconds", fractional_seconds(status.cpu_time)},
              {"bpf_cpu_seconds", fractional_seconds(status.bpf_cpu_time)},
              {"resident_bytes", status.resident_bytes},
              {"map_bytes", status.map_bytes},
              {"throttle_count", status.throttle_count},
              {"lost_count", cli::lost_ticks(status.ticks_by_outcome)},
              {"complete_count", cli::complete_stacks(status.stacks_by_end)}};
    Json& ticks = json["ticks"] = Json::object();
    for (std::size_t i = 0; i < abi::TICK_OUTCOME_COUNT; ++i) {
        ticks[std::string(name_of(static_cast<abi::tick_outcome>(i)))] =
            status.ticks_by_outcome.at(i);
    }
    Json& stacks = json["stacks"] = Json::object();
    for (std::size_t i = 0; i < abi::WALK_END_COUNT; ++i) {
        stacks[std::string(profile::name_of(static_cast<abi::walk_end>(i)))] =
            status.stacks_by_end.at(i);
    }
    json["stored"] = stored_json(status.stored);
    Json& exports = json["exports"] = Json::array();
    for (const Status::Exported& to : status.exports) exports.push_back(export_json(to));
    return dump(json);
}

std::string segments_json(const std::vector<store::Segment>& segments) {
    Json json{{"segments", Json::array()}};
    for (const store::Segment& segment : segments) {
        json["segments"].push_back({{"begin", seconds_or_null(segment.begin)},
                                    {"seconds", fractional_seconds(segment.duration)},
                                    {"sample_count", segment.sample_count},
                                    {"cpu_seconds", static_cast<double>(segment.cpu_ns) / 1e9},
                                    {"bytes", segment.size_bytes},
                                    {"file", segment.file}});
    }
    return dump(json);
}

std::string series_json(const store::Range& range, std::chrono::seconds step,
                        const std::vector<store::StoreReader::Series>& series) {
    Json json{{"begin", seconds_or_null(range.begin)},
              {"end", seconds_or_null(range.end)},
              {"step", step.count()},
              {"series", Json::array()}};
    for (const store::StoreReader::Series& one : series) {
        json["series"].push_back({{"name", one.name}, {"cores", one.cores}});
    }
    return dump(json);
}

}  // namespace bobbin::service
