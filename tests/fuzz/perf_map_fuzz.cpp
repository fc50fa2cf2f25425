// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/perf_map.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

std::vector<std::uint64_t> addresses() {
    std::vector<std::uint64_t> result;
    for (std::uint64_t vaddr = 0; vaddr < 0x120; vaddr += 7) result.push_back(vaddr);
    result.insert(result.end(), {0x7f0000001000, 0x7f0000001fff, UINT64_MAX - 1, UINT64_MAX});
    return result;
}

// The digits of a hexadecimal number up to 64 bits, or not.
bool read_hex(std::string_view digits, std::uint64_t& value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    value = 0;
    for (const char digit : digits) {
        const char lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit + 32) : digit;
        const std::size_t number = kDigits.find(lower);
        if (number == std::string_view::npos || value >> 60 != 0) return false;
        value = value << 4 | number;
    }
    return !digits.empty();
}

// One line at a time for each address: what the reader promises, without its tree.
std::string name_of(std::string_view text, std::uint64_t vaddr) {
    std::string name;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line =
            text.substr(0, std::min(end, bobbin::symbolize::kMaxPerfMapLineBytes));
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t first = line.find(' ');
        const std::size_t second = line.find_first_not_of(' ', first);
        const std::size_t behind_second = line.find(' ', second);
        const std::size_t third = line.find_first_not_of(' ', behind_second);
        std::uint64_t start = 0;
        std::uint64_t size = 0;
        if (third == std::string_view::npos) continue;
        if (!read_hex(line.substr(0, first), start)) continue;
        if (!read_hex(line.substr(second, behind_second - second), size)) continue;
        if (size > UINT64_MAX - start || vaddr < start || vaddr >= start + size) continue;
        name = line.substr(third);
    }
    return name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::uint64_t> asked = addresses();
    const auto file = bobbin::symbolize::bytes_in_memory(std::as_bytes(std::span(data, size)));
    const auto read = bobbin::symbolize::read_perf_map(file, asked);
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    require(read.names.size() == asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i)
        require(read.names[i] == name_of(text, asked[i]));
    return 0;
}
