// SPDX-License-Identifier: Apache-2.0
// What a worker that was taken over may answer. The first byte is how many addresses were asked
// for; the rest is the answer, or a request.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "symbolize/object_messages.h"

using namespace bobbin::symbolize;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
    const std::size_t address_count = data[0];
    if (const auto names = decode_names(bytes, address_count)) {
        if (names->names.size() != address_count) std::abort();
        if (!decode_names(encode(*names), address_count)) std::abort();
    }
    if (const auto request = decode_request(bytes)) {
        if (!decode_request(encode(*request))) std::abort();
    }
    if (const auto request = decode_code_map_request(bytes)) {
        if (!decode_code_map_request(encode(*request))) std::abort();
    }
    if (const auto request = decode_demangle_request(bytes)) {
        if (!decode_demangle_request(encode(*request))) std::abort();
    }
    if (const auto texts = decode_texts(bytes)) {
        if (!decode_texts(encode(std::span<const std::string>(*texts)))) std::abort();
    }
    if (decode_text(bytes).size() > kMaxTextBytes) std::abort();
    return 0;
}
