// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/check_profile.h"
#include "profile/firefox.h"
#include "profile/perfetto.h"
#include "profile/pprof.h"
#include "profile/read_pprof.h"
#include "profile/speedscope.h"

// What any file says can be written in every format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bobbin;
    constexpr std::uint64_t kFewSamples = 100;
    const auto profile =
        profile::read_pprof(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!profile) return 0;
    test::check_profile(*profile);
    (void)profile::encode_pprof_uncompressed(*profile, profile::Times::kKeep);
    (void)profile::encode_folded(*profile);
    (void)profile::encode_speedscope(*profile);
    (void)profile::encode_firefox(*profile);
    (void)profile::encode_perfetto(*profile, kFewSamples);
    return 0;
}
