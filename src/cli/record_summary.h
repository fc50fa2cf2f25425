// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "executable/open_file.h"
#include "output/output_file.h"

namespace bobbin::cli {

// What a recording came to, for the last lines on the terminal and the comments of the profile.
struct RecordSummary {
    std::chrono::nanoseconds duration{};
    std::uint32_t frequency_hz = 0;
    std::uint32_t cpu_count = 0;
    std::uint64_t process_count = 0;
    std::uint64_t sample_count = 0;
    std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT> by_tick_outcome{};
    std::array<std::uint64_t, abi::WALK_END_COUNT> by_walk_end{};

    struct UnnamedModule {
        std::string module;
        double share_of_frames = 0;  // of all frames, 0..1
        std::string run;             // what helps; empty: `bobbin explain` has to look
    };
    std::uint64_t frame_count = 0;
    std::uint64_t named_frame_count = 0;
    std::vector<UnnamedModule> unnamed_modules;  // most frames first
    std::vector<std::string> name_losses;        // what names had to do without, a line each

    struct HotFunction {
        std::string process;
        std::string function;
        double share_of_samples = 0;  // as the leaf, 0..1
    };
    std::vector<HotFunction> hottest;  // at most three

    struct RefusedFile {
        std::string path;
        std::string reason;
    };
    std::vector<RefusedFile> refused_files;
    executable::LostFileCounts lost_files{};
    std::uint64_t announcements_lost = 0;  // each made again by the file's next sample

    std::chrono::nanoseconds own_cpu_time{};  // of the agent
    std::chrono::nanoseconds bpf_time{};      // of the sampling program, all CPUs
    std::uint64_t peak_rss_bytes = 0;
    std::uint64_t bpf_map_bytes = 0;
    std::vector<output::WrittenFile> files;
};

// Ticks that should have become samples.
std::uint64_t lost_ticks(const std::array<std::uint64_t, abi::TICK_OUTCOME_COUNT>& outcomes);
// Stacks from which nothing is missing: kernel threads, and user stacks not asked for, count.
std::uint64_t complete_stacks(const std::array<std::uint64_t, abi::WALK_END_COUNT>& ends);

// The end summary, one string a line, without colours: Recorded, Stacks, Symbols, Top, Cost,
// Refused, Lost, Names, Wrote. Names of modules, functions and files are foreign and written
// printable().
std::vector<std::string> describe(const RecordSummary& summary);
// The same for programs: one object on one line.
std::string to_json(const RecordSummary& summary);

// "12s · 4,812 samples · 37 processes · 96.4 % complete · 0 lost": the progress line.
struct Progress {
    std::chrono::nanoseconds elapsed{};
    std::uint64_t sample_count = 0;
    std::uint64_t complete_count = 0;
    std::uint64_t lost_count = 0;
    std::uint64_t process_count = 0;
};
std::string describe(const Progress& progress);

}  // namespace bobbin::cli
