// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bobbin::profile {

// The two kinds of line that `perf script` prints. Views into the line.

// "comm pid/tid [cpu] seconds.fraction: period event:modifiers: rest"
struct PerfScriptHead {
    std::string_view comm;
    std::uint32_t pid = 0;  // that of the thread when only one is there
    std::uint32_t tid = 0;
    std::uint32_t cpu = 0;
    std::chrono::nanoseconds time{};
    std::optional<std::uint64_t> period;
    std::string_view event;  // without modifiers
    std::string_view rest;   // of a tracepoint what it says; without call graphs the one frame
};
std::optional<PerfScriptHead> parse_perf_script_head(std::string_view line);

// "address symbol+0xoffset (file)" or "address symbol (inlined)"
struct PerfScriptFrame {
    std::uint64_t address = 0;
    std::string_view symbol;
    std::string_view file;
    bool is_inlined = false;  // into the frame of the next line
};
std::optional<PerfScriptFrame> parse_perf_script_frame(std::string_view line);

}  // namespace bobbin::profile
