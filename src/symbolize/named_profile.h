// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "aggregate/sample_times.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::symbolize {

// Stacks with names: the profile model that every output is written from. Functions, locations and
// mappings are each listed once and referred to by index (pprof's ids are index + 1).

// The upper half of the address space is the kernel's (Documentation/arch/x86/x86_64/mm.rst).
inline constexpr std::uint64_t kFirstKernelAddress = std::uint64_t{1} << 63;

struct Function {
    std::string name;         // for people: demangled
    std::string system_name;  // as in the symbol table
    std::string file;         // source file; empty when not known

    friend bool operator==(const Function&, const Function&) = default;
};

struct Line {
    std::uint32_t function = 0;  // index
    std::uint32_t line = 0;      // 0: not known
};

// One executable segment of a file, the kernel, the vdso, or generated code of a process.
struct Mapping {
    std::uint64_t start_file_vaddr = 0;  // kernel: address; generated code: address in the process
    std::uint64_t end_file_vaddr = 0;
    std::uint64_t file_offset = 0;
    std::string file;      // path; "[kernel]", "[vdso]", "[anon]"
    std::string build_id;  // lower-case hex; empty when there is none
    bool has_functions = false;
    bool has_filenames = false;
    bool has_line_numbers = false;
    bool has_inline_frames = false;
};

struct Location {
    std::uint32_t mapping = 0;  // index
    std::uint64_t address = 0;  // in the mapping's address space
    std::vector<Line> lines;    // innermost inlined function first; never empty
    bool is_named = false;      // false: the only line says "module+0xoffset"
    bool is_kernel = false;
};

struct SampleLabels {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint32_t cpu = 0;
    std::string comm;    // of the process
    std::string thread;  // of the thread
    std::string cgroup;  // path below the hierarchy's root; empty: not known
    std::string unit;    // systemd unit, from the cgroup's path
    std::string container;
    // What other profilers say besides: key and text, in the file's order.
    std::vector<std::pair<std::string, std::string>> others;

    friend bool operator==(const SampleLabels&, const SampleLabels&) = default;
};

struct NamedStack {
    std::vector<std::uint32_t> locations;  // index; leaf first, kernel frames before user frames
    SampleLabels labels;
    // Positions in `locations`, ascending, of frames that were found by a frame pointer because the
    // code above them has no unwind information: right where code keeps one.
    std::vector<std::uint32_t> by_frame_pointer;
    abi::walk_end walk_end = abi::WALK_END_BOTTOM;
    std::uint64_t count = 0;      // samples
    std::uint64_t value = 0;      // in NamedProfile::value_type; ours: count * period
    aggregate::TimeCounts times;  // in spans of NamedProfile::time_bucket; empty: not known
};

// What a value measures.
struct ValueType {
    std::string name = "cpu";
    std::string unit = "nanoseconds";

    friend bool operator==(const ValueType&, const ValueType&) = default;
};

struct NamedProfile {
    std::vector<Mapping> mappings;
    std::vector<Function> functions;
    std::vector<Location> locations;
    std::vector<NamedStack> stacks;
    std::uint64_t sample_count = 0;
    std::array<std::uint64_t, abi::WALK_END_COUNT> by_walk_end{};
    ValueType count_type{.name = "samples", .unit = "count"};
    ValueType value_type;
    std::chrono::nanoseconds period{};       // CPU time that one sample stands for
    std::chrono::nanoseconds time_bucket{};  // 0: when samples came is not known
    std::chrono::system_clock::time_point started;
    std::chrono::nanoseconds duration{};
    std::vector<std::string> comments;  // the end summary
};

}  // namespace bobbin::symbolize
