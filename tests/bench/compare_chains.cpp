// SPDX-License-Identifier: Apache-2.0
// How many samples come back with the exact call chain: bobbin, perf record --call-graph dwarf and
// --call-graph fp, one after the other on the same program, as a table in Markdown. A rule
// judges the samples whose innermost user frame lies where the row says, the same for all three,
// but that perf is not asked for what is below main or the thread's function: libc has no frame
// pointers. perf copies the stack up to the first page that was never touched, and the known chain
// has such pages inside its largest frame.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/compare_perf_script.h"
#include "bench/compare_workloads.h"
#include "support/profile_readers.h"
#include "support/record_run.h"

namespace bobbin::bench {
namespace {

constexpr const char* kFrequency = "499";
// The most stack that perf takes along with a sample: the known chain's frames need 33 KiB.
constexpr const char* kDwarf = "dwarf,65528";

struct Recordings {
    std::string summary;  // what bobbin itself says
    std::vector<test::Stack> bobbin;
    std::vector<test::Stack> perf_dwarf;
    std::vector<test::Stack> perf_fp;
};

std::vector<test::Stack> only_of(std::vector<test::Stack> stacks, const std::string& fixture) {
    std::erase_if(stacks, [&](const test::Stack& stack) {
        return stack.label("comm") != test::comm_of(fixture);
    });
    return stacks;
}

void append(std::vector<test::Frame>& frames, const test::ExpectedStack& bottom) {
    for (const test::ExpectedFrame& frame : bottom)
        frames.push_back({frame.names.front(), frame.module_when_unnamed, false});
}

std::vector<test::Stack> with_known_bottom(std::vector<test::Stack> stacks) {
    for (test::Stack& stack : stacks) {
        const auto from_root =
            std::find_if(stack.frames.rbegin(), stack.frames.rend(), [](const test::Frame& frame) {
                return test::is_function(frame, "main") || test::is_function(frame, "run_chain");
            });
        if (from_root == stack.frames.rend()) continue;
        const bool is_main = test::is_function(*from_root, "main");
        stack.frames.erase(is_main ? from_root.base() - 1 : from_root.base(), stack.frames.end());
        append(stack.frames, is_main ? test::below_main() : test::below_thread_function());
    }
    return stacks;
}

std::vector<test::Stack> record_with_perf(const std::string& call_graph, const std::string& data,
                                          const std::string& fixture,
                                          const std::string& cpu_seconds) {
    const test::FinishedProcess perf = test::run_process(
        {"perf", "record", "-q", "-e", "cpu-clock", "-F", kFrequency, "-m", "4M", "-o", data,
         "--call-graph", call_graph, "--", test::fixture_path(fixture), cpu_seconds});
    if (perf.exit_status != 0) fmt::print(stderr, "{}: {}\n", fixture, perf.standard_error);
    return with_known_bottom(only_of(read_perf_data(data), fixture));
}

// One after the other: a perf record inside another's loses whole processes' chains.
Recordings record_all(const std::string& fixture, const std::string& cpu_seconds) {
    const test::TemporaryDirectory directory;
    const std::string pprof = directory / "bobbin.pb.gz";
    const test::FinishedProcess bobbin =
        test::run_process({test::program_path(), "record", "-F", kFrequency, "-o", pprof, "--",
                           test::fixture_path(fixture), cpu_seconds});
    if (bobbin.exit_status != 0) fmt::print(stderr, "{}: {}\n", fixture, bobbin.standard_error);
    return {bobbin.standard_error, only_of(test::read_pprof(pprof).stacks, fixture),
            record_with_perf(kDwarf, directory / "dwarf.data", fixture, cpu_seconds),
            record_with_perf("fp", directory / "fp.data", fixture, cpu_seconds)};
}

std::string cell(const test::Verdict& verdict) {
    if (verdict.judged == 0) return "no sample";
    return fmt::format("{:.2f} % of {}", verdict.share_right() * 100, verdict.judged);
}

void print_program(const Program& program, const std::string& cpu_seconds) {
    const Recordings recordings = record_all(program.fixture, cpu_seconds);
    for (const Workload& workload : program.workloads) {
        const test::Verdict ours = judge(recordings.bobbin, workload.applies, workload.is_exact);
        fmt::print("| {} | {} | {} | {} | {} |\n", workload.name, program.compiler, cell(ours),
                   cell(judge(recordings.perf_dwarf, workload.applies, workload.is_exact)),
                   cell(judge(recordings.perf_fp, workload.applies, workload.is_exact)));
        if (ours.share_right() < 0.999)
            fmt::print(stderr, "{}, {}: {}{}\n", workload.name, program.compiler, ours.examples(),
                       recordings.summary);
        std::fflush(stdout);
    }
}

int run(const std::string& cpu_seconds) {
    fmt::print("| workload | compiler | bobbin | perf {} | perf fp |\n", kDwarf);
    fmt::print("|---|---|---|---|---|\n");
    for (const Program& program : programs_to_compare()) print_program(program, cpu_seconds);
    return 0;
}

}  // namespace
}  // namespace bobbin::bench

int main(int argc, char** argv) { return bobbin::bench::run(argc > 1 ? argv[1] : "3"); }
