// SPDX-License-Identifier: Apache-2.0
#include "config/parse_frequency.h"

#include <algorithm>

#include "base/parse_number.h"
#include "config/record_config.h"

namespace bobbin::config {

Result<std::uint32_t> parse_frequency(std::string_view text,
                                      std::optional<std::uint32_t> kernel_limit_hz) {
    constexpr std::uint32_t kMin = RecordConfig::kMinFrequencyHz;
    constexpr std::uint32_t kMax = RecordConfig::kMaxFrequencyHz;
    if (text == "max") return std::clamp(kernel_limit_hz.value_or(kMax), kMin, kMax);

    const auto frequency_hz = parse_number<std::uint32_t>(text);
    if (!frequency_hz || *frequency_hz < kMin || *frequency_hz > kMax) {
        return fail("a frequency is a number of hertz from {} to {}, or 'max'", kMin, kMax);
    }
    return *frequency_hz;
}

}  // namespace bobbin::config
