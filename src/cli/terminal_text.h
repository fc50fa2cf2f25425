// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bobbin::cli {

// How quantities and foreign strings are written for people.

// 47301 -> "47,301".
std::string thousands(std::uint64_t number);
// 0.978 -> "97.8 %". What is not quite none or not quite all never reads as none or all:
// "<0.1 %", ">99.9 %".
std::string percent(double share);
// 999 -> "999 B", 214000 -> "214.0 kB"; powers of 1000, up to GB.
std::string byte_size(std::uint64_t bytes);
// 0.5 s -> "500ms", 12.3 s -> "12.3s", 90 s -> "1m30s", 2 h 5 min -> "2h05m".
std::string short_duration(std::chrono::nanoseconds duration);

// Paths, names and symbols come from profiled processes: control characters (C0, DEL, and C1 in
// UTF-8), which a terminal would obey, become \xNN.
std::string printable(std::string_view text);
// The same as code in a cell of a Markdown table, where nothing of it is read as Markdown:
// `a\|b`. Empty stays empty.
std::string markdown_code(std::string_view text);

// One word, or a command line, that a POSIX shell reads back as it was: 'it'\''s'.
std::string shell_quote(std::string_view word);
std::string shell_quote(std::span<const std::string> words);

}  // namespace bobbin::cli
