// SPDX-License-Identifier: Apache-2.0
#include "service/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace bobbin::service {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

double value_of(const std::string& text, const std::string& series) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(series + " ")) return std::stod(line.substr(series.size()));
    }
    ADD_FAILURE() << series << " is not in\n" << text;
    return -1;
}

double sum_of(const std::string& text, const std::string& name) {
    std::istringstream lines(text);
    double sum = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(name + "{")) sum += std::stod(line.substr(line.rfind(' ')));
    }
    return sum;
}

TEST(MetricsText, HasEveryTickAndStackOnce) {
    Status status;
    double ticks = 0;
    for (std::size_t i = 0; i < abi::TICK_OUTCOME_COUNT; ++i) {
        status.ticks_by_outcome.at(i) = 1ULL << i;
        ticks += static_cast<double>(1ULL << i);
    }
    double stacks = 0;
    for (std::size_t i = 0; i < abi::WALK_END_COUNT; ++i) {
        status.stacks_by_end.at(i) = 1ULL << i;
        stacks += static_cast<double>(1ULL << i);
    }
    const std::string text = metrics_text(status);
    EXPECT_EQ(sum_of(text, "bobbin_samples_total") + sum_of(text, "bobbin_lost_samples_total"),
              ticks);
    EXPECT_EQ(value_of(text, "bobbin_lost_samples_total{reason=\"ring_full\"}"),
              1 << abi::TICK_RING_FULL);
    EXPECT_EQ(sum_of(text, "bobbin_stacks_total"), stacks);
    EXPECT_EQ(sum_of(text, "bobbin_unwind_errors_total"),
              value_of(text, "bobbin_stacks_total{result=\"incomplete\"}"));
    EXPECT_EQ(value_of(text, "bobbin_unwind_errors_total{reason=\"no_cfi\"}"),
              1 << abi::WALK_END_NO_CFI);
}

// 2026-11-22 00:00:00 UTC is 1'795'305'600: all ten digits count.
TEST(MetricsText, KeepsEveryDigit) {
    Status status;
    status.started = std::chrono::system_clock::time_point(std::chrono::seconds{1'795'305'600});
    status.stored.bytes = 1'999'999'999;
    status.cpu_time = std::chrono::milliseconds{1250};
    const std::string text = metrics_text(status);
    EXPECT_EQ(value_of(text, "process_start_time_seconds"), 1'795'305'600.0);
    EXPECT_EQ(value_of(text, "bobbin_store_bytes"), 1'999'999'999.0);
    EXPECT_EQ(value_of(text, "bobbin_cpu_seconds_total{where=\"user\"}"), 1.25);
}

// 0.1 s is within its bound; 400 s are beyond the last one.
TEST(MetricsText, CountsHowLongNamesTook) {
    Status status;
    for (const double seconds : {0.05, 0.1, 2.5, 400.0}) {
        status.naming_times.add(std::chrono::duration<double>{seconds});
    }
    const std::string text = metrics_text(status);
    const std::string bucket = "bobbin_symbolize_seconds_bucket";
    EXPECT_EQ(value_of(text, bucket + "{le=\"0.1\"}"), 2);
    EXPECT_EQ(value_of(text, bucket + "{le=\"1\"}"), 2);
    EXPECT_EQ(value_of(text, bucket + "{le=\"3\"}"), 3);
    EXPECT_EQ(value_of(text, bucket + "{le=\"300\"}"), 3);
    EXPECT_EQ(value_of(text, bucket + "{le=\"+Inf\"}"), 4);
    EXPECT_EQ(value_of(text, "bobbin_symbolize_seconds_count"), 4);
    EXPECT_NEAR(value_of(text, "bobbin_symbolize_seconds_sum"), 402.65, 1e-9);
}

TEST(MetricsText, SaysWhatIsTheMatter) {
    Status status;
    status.configured_hz = 19;
    status.paused_why = "kill switch";
    status.stored.is_full = true;
    std::string text = metrics_text(status);
    EXPECT_EQ(value_of(text, "bobbin_paused"), 1);
    EXPECT_EQ(value_of(text, "bobbin_sampling_hz"), 0);
    EXPECT_EQ(value_of(text, "bobbin_configured_hz"), 19);
    EXPECT_EQ(value_of(text, "bobbin_store_full"), 1);
    EXPECT_THAT(text, Not(HasSubstr("bobbin_export")));
    status.exports.push_back({.to = "pyroscope http://a\"b\\c\nd", .dropped_count = 3});
    text = metrics_text(status);
    EXPECT_EQ(value_of(text, R"(bobbin_export_dropped_total{to="pyroscope http://a\"b\\c\nd"})"),
              3);
}

}  // namespace
}  // namespace bobbin::service
