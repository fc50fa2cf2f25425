// SPDX-License-Identifier: Apache-2.0
#include "golden/pprof_example.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace bobbin::test {
namespace {

using symbolize::NamedProfile;

enum MappingIndex : std::uint32_t { kKernel, kApp, kLibrary };
enum FunctionIndex : std::uint32_t { kVfsRead, kParse, kRun, kMain, kUnnamed };
enum LocationIndex : std::uint32_t { kInVfsRead, kInRun, kInMain, kInLibrary };

std::vector<symbolize::Mapping> mappings() {
    std::vector<symbolize::Mapping> result(3);
    result[kKernel] = {.start_file_vaddr = 0xffffffff81000000,
                       .end_file_vaddr = 0xffffffff82000000,
                       .file = "[kernel]",
                       .build_id = "4a5a9b0a",
                       .has_functions = true};
    result[kApp] = {.start_file_vaddr = 0x402000,
                    .end_file_vaddr = 0x406000,
                    .file_offset = 0x1000,
                    .file = "/nonexistent/app",
                    .build_id = "0123abcd",
                    .has_functions = true,
                    .has_filenames = true,
                    .has_line_numbers = true,
                    .has_inline_frames = true};
    result[kLibrary] = {.start_file_vaddr = 0x2000,
                        .end_file_vaddr = 0x3000,
                        .file_offset = 0x2000,
                        .file = "/nonexistent/libx.so",
                        .build_id = "ef"};
    return result;
}

symbolize::Location location_at(std::uint32_t mapping, std::uint64_t address,
                                std::vector<symbolize::Line> lines) {
    symbolize::Location location;
    location.mapping = mapping;
    location.address = address;
    location.lines = std::move(lines);
    location.is_named = mapping != kLibrary;
    location.is_kernel = mapping == kKernel;
    return location;
}

symbolize::NamedStack stack_of(std::vector<std::uint32_t> locations, std::uint64_t count,
                               std::uint32_t pid, std::uint32_t tid, std::uint32_t cpu) {
    symbolize::NamedStack stack;
    stack.locations = std::move(locations);
    stack.count = count;
    stack.value = count * 10'000'000;  // the period is 10 ms
    stack.labels.pid = pid;
    stack.labels.tid = tid;
    stack.labels.cpu = cpu;
    stack.labels.comm = "app";
    return stack;
}

}  // namespace

NamedProfile example_profile() {
    NamedProfile profile;
    profile.mappings = mappings();
    profile.functions = {{"vfs_read", "vfs_read", ""},
                         {"parse(int)", "_Z5parsei", "/src/app.cpp"},
                         {"run", "run", "/src/app.cpp"},
                         {"main", "main", "/src/main.cpp"},
                         {"libx.so+0x2345", "libx.so+0x2345", ""}};
    profile.locations = {location_at(kKernel, 0xffffffff81000123, {{kVfsRead, 0}}),
                         location_at(kApp, 0x402345, {{kParse, 7}, {kRun, 21}}),
                         location_at(kApp, 0x403456, {{kMain, 40}}),
                         location_at(kLibrary, 0x2345, {{kUnnamed, 0}})};
    profile.stacks = {stack_of({kInVfsRead, kInRun, kInMain}, 3, 10, 11, 0),
                      stack_of({kInRun, kInMain}, 5, 10, 10, 2),
                      stack_of({kInLibrary, kInMain}, 2, 20, 20, 0)};
    symbolize::SampleLabels& labels = profile.stacks[0].labels;
    labels.thread = "reader";
    labels.cgroup = "/system.slice/app.service";
    labels.unit = "app.service";
    labels.container = "c0ffee";
    profile.sample_count = 10;
    profile.period = std::chrono::milliseconds(10);
    profile.started = std::chrono::sys_days{std::chrono::year(2026) / 3 / 4} +
                      std::chrono::hours(5) + std::chrono::minutes(6);
    profile.duration = std::chrono::milliseconds(2500);
    profile.comments = {"10 samples, 0 lost", "second line"};
    return profile;
}

}  // namespace bobbin::test
