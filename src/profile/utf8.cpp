// SPDX-License-Identifier: Apache-2.0
#include "profile/utf8.h"

#include <cstddef>

namespace bobbin::profile {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned byte_at(std::string_view text, std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
}

bool is_continuation(unsigned byte) { return (byte & 0xC0) == 0x80; }

// Bytes of the well-formed sequence at the start of `text`; 0: none starts here.
std::size_t sequence_length(std::string_view text) {
    const unsigned lead = byte_at(text, 0);
    const unsigned second = byte_at(text, 1);
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4 || !is_continuation(second)) return 0;
    if (lead < 0xE0) return 2;
    if (!is_continuation(byte_at(text, 2))) return 0;
    if (lead == 0xE0 && second < 0xA0) return 0;  // not the shortest form
    if (lead == 0xED && second > 0x9F) return 0;  // surrogate
    if (lead < 0xF0) return 3;
    if (!is_continuation(byte_at(text, 3))) return 0;
    if (lead == 0xF0 && second < 0x90) return 0;  // not the shortest form
    if (lead == 0xF4 && second > 0x8F) return 0;  // above U+10FFFF
    return 4;
}

}  // namespace

std::string to_valid_utf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        valid += length > 0 ? text.substr(0, length) : kReplacement;
        text.remove_prefix(length > 0 ? length : 1);
    }
    return valid;
}

}  // namespace bobbin::profile
