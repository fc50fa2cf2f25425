// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/check_profile.h"
#include "profile/read_speedscope.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto profile = bobbin::profile::read_speedscope(
        std::string_view(reinterpret_cast<const char*>(data), size));
    if (profile) bobbin::test::check_profile(*profile);
    return 0;
}
