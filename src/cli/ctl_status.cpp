// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/ctl.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

using StatusJson = nlohmann::json;

std::string status_line(std::string_view title, std::string_view text) {
    return fmt::format("{:<9}{}\n", title, text);
}

std::uint64_t count(const StatusJson& json, const char* name) {
    return json.at(name).get<std::uint64_t>();
}

std::string clock_text(const StatusJson& time) {
    const auto seconds = static_cast<std::time_t>(time.get<double>());
    std::tm local{};
    ::localtime_r(&seconds, &local);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
    return text.data();
}

std::string describe_sampling(const StatusJson& status, double now) {
    const std::string paused = status.at("paused_why");
    const auto hz = count(status, "hz");
    const auto configured_hz = count(status, "configured_hz");
    std::string text = paused.empty() ? fmt::format("{} Hz", hz) : "paused: " + printable(paused);
    if (paused.empty() && hz != configured_hz) {
        text += fmt::format(" ({} configured; {})", configured_hz,
                            hz < configured_hz ? "lowered to keep the budget" : "boosted");
    }
    const std::chrono::duration<double> age(now - status.at("started").get<double>());
    return text + ", running for " +
           short_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(age));
}

std::string describe_samples(const StatusJson& status) {
    const auto sampled = count(status.at("ticks"), "emitted");
    const auto share = sampled == 0 ? 0.0
                                    : static_cast<double>(count(status, "complete_count")) /
                                          static_cast<double>(sampled);
    return fmt::format("{} since its start, {} lost, {} of the stacks complete, {} processes now",
                       thousands(sampled), thousands(count(status, "lost_count")),
                       percent(std::min(share, 1.0)), thousands(count(status, "process_count")));
}

std::string describe_cost(const StatusJson& status) {
    return fmt::format(
        "{:.2f} % of one CPU, {} RSS, {} BPF maps, rate lowered {} times",
        status.at("cpu_percent").get<double>(), byte_size(count(status, "resident_bytes")),
        byte_size(count(status, "map_bytes")), thousands(count(status, "throttle_count")));
}

std::string describe_stored(const StatusJson& stored) {
    std::string text = fmt::format("{} segments, {}", thousands(count(stored, "segment_count")),
                                   byte_size(count(stored, "bytes")));
    if (!stored.at("oldest").is_null() && !stored.at("newest").is_null()) {
        text += fmt::format(", from {} to {}", clock_text(stored.at("oldest")),
                            clock_text(stored.at("newest")));
    }
    if (const auto failed = count(stored, "failed_count"); failed > 0) {
        text += fmt::format(", {} could not be written", thousands(failed));
    }
    return stored.at("is_full").get<bool>() ? text + "; no room for more" : text;
}

std::string describe_export(const StatusJson& to) {
    const std::string text = fmt::format(
        "{}: {} sent, {} waiting, {} dropped, {} errors", printable(to.at("to").get<std::string>()),
        thousands(count(to, "sent_count")), byte_size(count(to, "queued_bytes")),
        thousands(count(to, "dropped_count")), thousands(count(to, "error_count")));
    const std::string error = to.at("last_error");
    return error.empty() ? text : text + "; " + printable(error);
}

}  // namespace

Result<std::string> describe_status(std::string_view json, double now) {
    // Its members are read as what they have to be; the library says by exceptions that they are
    // not.
    try {
        const StatusJson status = StatusJson::parse(json);
        std::string text = status_line("Sampling", describe_sampling(status, now)) +
                           status_line("Samples", describe_samples(status)) +
                           status_line("Cost", describe_cost(status)) +
                           status_line("Stored", describe_stored(status.at("stored")));
        for (const StatusJson& to : status.at("exports"))
            text += status_line("Export", describe_export(to));
        return text;
    } catch (const StatusJson::exception& problem) {
        return fail("the service is of another version: {}", problem.what());
    }
}

}  // namespace bobbin::cli
