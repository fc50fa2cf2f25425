// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_text.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>

namespace bobbin::cli {

std::string thousands(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

std::string percent(double share) {
    if (share > 0 && share < 0.0005) return "<0.1 %";
    if (share < 1 && share >= 0.9995) return ">99.9 %";
    return fmt::format("{:.1f} %", share * 100);
}

std::string byte_size(std::uint64_t bytes) {
    if (bytes < 1000) return fmt::format("{} B", bytes);
    constexpr std::array<std::string_view, 3> kUnits{"kB", "MB", "GB"};
    double size = static_cast<double>(bytes) / 1000;
    std::size_t unit = 0;
    // 999.95 would be written as 1000.0.
    for (; size >= 999.95 && unit + 1 < kUnits.size(); ++unit) size /= 1000;
    return fmt::format("{:.1f} {}", size, kUnits.at(unit));
}

std::string short_duration(std::chrono::nanoseconds duration) {
    using std::chrono::duration_cast;
    const auto ms = duration_cast<std::chrono::milliseconds>(duration).count();
    if (ms < 1000) return fmt::format("{}ms", ms);
    const auto seconds = ms / 1000;
    if (seconds < 60) return fmt::format("{}.{}s", seconds, ms % 1000 / 100);
    if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
    return fmt::format("{}h{:02}m", seconds / 3600, seconds % 3600 / 60);
}

std::string printable(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
        const bool is_c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
        if (byte < 0x20 || byte == 0x7f) {
            result += fmt::format("\\x{:02x}", byte);
        } else if (is_c1) {
            result += fmt::format("\\x{:02x}\\x{:02x}", byte, next);
            ++i;
        } else {
            result += text[i];
        }
    }
    return result;
}

std::string markdown_code(std::string_view text) {
    if (text.empty()) return {};
    std::string code;
    for (const char c : printable(text)) {
        if (c == '|') code += '\\';  // it would end the cell, in code too
        code += c;
    }
    std::string fence = "`";  // longer than any in the text
    while (code.find(fence) != std::string::npos) fence += '`';
    const std::string_view space = fence.size() > 1 ? " " : "";
    return fmt::format("{0}{1}{2}{1}{0}", fence, space, code);
}

std::string shell_quote(std::string_view word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
        return std::string(word);
    }
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'') {
            quoted += "'\\''";
        } else {
            quoted += c;
        }
    }
    quoted += '\'';
    return quoted;
}

std::string shell_quote(std::span<const std::string> words) {
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty()) line += ' ';
        line += shell_quote(word);
    }
    return line;
}

}  // namespace bobbin::cli
