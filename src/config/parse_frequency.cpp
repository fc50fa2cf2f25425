// SPDX-License-Identifier: Apache-2.0
#include "config/parse_frequency.h"

#include <algorithm>
#include <charconv>

#include "config/record_config.h"

namespace bobbin::config {

Result<std::uint32_t> parse_frequency(std::string_view text,
                                      std::optional<std::uint32_t> kernel_limit_hz) {
    constexpr std::uint32_t kMin = RecordConfig::kMinFrequencyHz;
    constexpr std::uint32_t kMax = RecordConfig::kMaxFrequencyHz;
    if (text == "max") return std::clamp(kernel_limit_hz.value_or(kMax), kMin, kMax);

    std::uint32_t frequency_hz = 0;
    const char* const text_end = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), text_end, frequency_hz);
    const bool is_number = problem == std::errc{} && end == text_end;
    if (!is_number || frequency_hz < kMin || frequency_hz > kMax) {
        return fail("a frequency is a number of hertz from {} to {}, or 'max'", kMin, kMax);
    }
    return frequency_hz;
}

}  // namespace bobbin::config
