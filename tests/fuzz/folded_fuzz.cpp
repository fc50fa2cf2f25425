// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check_profile.h"
#include "profile/pprof.h"
#include "profile/read_folded.h"

// What is read can be written, and what was written reads as the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto profile = bobbin::profile::read_folded(text);
    if (!profile) return 0;
    bobbin::test::check_profile(*profile);
    const std::string written = bobbin::profile::encode_folded(*profile);
    const auto again = bobbin::profile::read_folded(written);
    if (again) bobbin::test::check_profile(*again);
    return 0;
}
