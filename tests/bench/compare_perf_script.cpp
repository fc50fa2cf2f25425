// SPDX-License-Identifier: Apache-2.0
#include "bench/compare_perf_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "support/child_process.h"

namespace bobbin::bench {
namespace {

constexpr std::string_view kSpaces = " \t";

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

// "[kernel.kallsyms]" -> "[kernel]"; "//anon" and a file of perf's for generated code -> "[anon]"
std::string module_name(std::string_view dso) {
    if (dso.starts_with("[kernel")) return "[kernel]";
    const std::string_view file = dso.substr(dso.rfind('/') + 1);
    if (dso == "//anon" || dso == "[unknown]" || file.starts_with("perf-")) return "[anon]";
    return std::string(file);
}

// "55d0c2a5e3d0 chain_25(unsigned long) (/tmp/known_chain.gcc.pie)"
test::Frame parse_frame(std::string_view line) {
    line = trimmed(line);
    const std::size_t after_address = std::min(line.find(' '), line.size());
    const std::size_t open = line.rfind(" (");
    const bool has_module = open != std::string_view::npos && line.ends_with(')');
    const std::size_t end = has_module ? open : line.size();
    test::Frame frame;
    if (end > after_address)
        frame.function = trimmed(line.substr(after_address, end - after_address));
    if (has_module) frame.module = module_name(line.substr(open + 2, line.size() - open - 3));
    if (frame.function.empty() || frame.function == "[unknown]")
        frame.function = fmt::format("{}+0x{}", frame.module, line.substr(0, after_address));
    frame.is_kernel = frame.module == "[kernel]";
    return frame;
}

}  // namespace

std::vector<test::Stack> parse_perf_script(const std::string& text) {
    std::vector<test::Stack> stacks;
    std::istringstream lines(text);
    bool is_inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (trimmed(line).empty()) {
            is_inside = false;
        } else if (!is_inside) {
            test::Stack& stack = stacks.emplace_back();
            stack.count = 1;
            stack.labels["comm"] = trimmed(line);
            is_inside = true;
        } else {
            stacks.back().frames.push_back(parse_frame(line));
        }
    }
    return stacks;
}

std::vector<test::Stack> read_perf_data(const std::string& path) {
    // Inlined functions would take minutes and are no frames; 127 frames are the default.
    const test::FinishedProcess script =
        test::run_process({"perf", "script", "-i", path, "--no-inline", "--max-stack", "2048", "-F",
                           "comm,ip,sym,dso"});
    if (script.exit_status != 0) fmt::print(stderr, "perf script: {}\n", script.standard_error);
    return parse_perf_script(script.standard_output);
}

}  // namespace bobbin::bench
