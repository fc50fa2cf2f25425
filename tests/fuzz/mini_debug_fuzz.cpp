// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "symbolize/mini_debug_info.h"

// The input is the compressed section; inputs that are no xz are taken for what comes out of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    (void)bobbin::symbolize::read_mini_debug_symbols(bytes);
    (void)bobbin::symbolize::read_mini_debug_file(bytes);
    return 0;
}
