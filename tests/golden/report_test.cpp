// SPDX-License-Identifier: Apache-2.0
// One profile, asked by bobbin and by `go tool pprof`: every number of every function is the same.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "golden/go_pprof.h"
#include "profile/pprof.h"
#include "report/filter.h"
#include "report/function_table.h"
#include "report/peek.h"
#include "support/temporary_directory.h"

namespace bobbin {
namespace {

constexpr std::uint32_t kFunctions = 40;

// Functions f0 to f39, each in a source file and a module of its own kind; locations with up to
// three functions, so that they are inlined; stacks that come through the same function often.
// pprof tells functions apart by their names alone, so each name is one function.
symbolize::NamedProfile many_stacks() {
    std::mt19937 engine(7);  // the same numbers everywhere: C++ defines this engine's sequence
    const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
    symbolize::NamedProfile profile;
    for (const char* file : {"/nonexistent/app", "/nonexistent/libx.so", "/nonexistent/liby.so"}) {
        profile.mappings.push_back({.file = file, .has_functions = true});
        auto& mapping = profile.mappings.back();
        mapping.start_file_vaddr = profile.mappings.size() * 0x100000;
        mapping.end_file_vaddr = mapping.start_file_vaddr + 0x100000;
    }
    for (std::uint32_t i = 0; i < kFunctions; ++i) {
        const std::string name = fmt::format("f{}", i);
        profile.functions.push_back({name, name, fmt::format("/src/part{}.c", i % 5)});
    }
    for (std::uint32_t i = 0; i < 3 * kFunctions; ++i) {
        symbolize::Location location{.mapping = i % 3};
        location.address = profile.mappings[location.mapping].start_file_vaddr + 16 * i;
        location.is_named = true;
        const std::uint32_t depth = i % 4 == 0 ? 1 + random() % 3 : 1;
        for (std::uint32_t line = 0; line < depth; ++line) {
            // A function's number and its module's agree modulo 3.
            const std::uint32_t function = random() % (kFunctions / 3) * 3 + i % 3;
            location.lines.push_back({function, 1 + random() % 50});
        }
        profile.locations.push_back(std::move(location));
    }
    for (int i = 0; i < 400; ++i) {
        symbolize::NamedStack stack;
        const std::size_t depth = 1 + random() % 12;
        for (std::size_t frame = 0; frame < depth; ++frame) {
            stack.locations.push_back(random() %
                                      static_cast<std::uint32_t>(profile.locations.size()));
        }
        stack.count = 1 + random() % 9;
        stack.value = stack.count * 1'000'000;
        profile.sample_count += stack.count;
        profile.stacks.push_back(std::move(stack));
    }
    return profile;
}

using Numbers = std::pair<std::uint64_t, std::uint64_t>;  // self, total
using Functions = std::map<std::string, Numbers>;
using Calls = std::map<std::pair<std::string, std::string>, std::uint64_t>;

std::string without_mark(const std::string& name) {
    return std::regex_replace(name, std::regex(" \\((partial-)?inline\\)$"), "");
}

class Report : public testing::Test {
protected:
    Report() {
        std::ofstream(path_, std::ios::binary) << profile::encode_pprof_uncompressed(many_stacks());
    }

    // What pprof prints, counting samples and leaving nothing out.
    std::string ask_pprof(std::vector<std::string> options) {
        options.insert(options.begin(), {"-sample_index=samples", "-nodefraction=0",
                                         "-edgefraction=0", "-nodecount=100000"});
        return test::run_go_pprof(directory_.path(), options, path_);
    }

    // "  5 50.00% 50.00%  8 80.00%  f7 (inline)"
    Functions pprof_top(const std::vector<std::string>& filter) {
        std::vector<std::string> options = filter;
        options.insert(options.begin(), "-top");
        Functions functions;
        const std::regex row(R"(^\s*(\d+)\s+[\d.]+%\s+[\d.]+%\s+(\d+)\s+[\d.]+%\s+(f.*)$)");
        std::istringstream text(ask_pprof(options));
        for (std::string line; std::getline(text, line);) {
            std::smatch found;
            if (!std::regex_match(line, found, row)) continue;
            functions[without_mark(found[3])] = {std::stoull(found[1]), std::stoull(found[2])};
        }
        return functions;
    }

    // Blocks of callers, the function, callees: "  3 37.50% |   f2", "5 5% 5% 8 8%  | f7".
    Calls pprof_calls(const std::vector<std::string>& options) {
        const std::regex function(R"(^\s*\d+\s+[\d.]+%\s+[\d.]+%\s+\d+\s+[\d.]+%\s+\| (f\d+).*$)");
        const std::regex neighbour(R"(^\s*(\d+)\s+[\d.]+%\s+\|\s+(f\d+).*$)");
        Calls calls;
        std::vector<std::pair<std::string, std::uint64_t>> callers;
        std::string current;
        std::istringstream text(ask_pprof(options));
        for (std::string line; std::getline(text, line);) {
            std::smatch found;
            if (line.starts_with("-----")) {
                current.clear();
                callers.clear();
            } else if (std::regex_match(line, found, function)) {
                current = found[1];
                for (const auto& [caller, count] : callers) calls[{caller, current}] = count;
            } else if (!std::regex_match(line, found, neighbour)) {
                continue;
            } else if (current.empty()) {
                callers.emplace_back(found[2], std::stoull(found[1]));
            } else {
                calls[{current, found[2]}] = std::stoull(found[1]);
            }
        }
        return calls;
    }

    static Functions our_top(const report::Filter& filter) {
        symbolize::NamedProfile profile = many_stacks();
        report::apply(filter, profile);
        Functions functions;
        for (const auto& row : report::make_table(profile, {}, report::Sort::kSelf)) {
            functions[row.group.name] = {row.self.count, row.total.count};
        }
        return functions;
    }

    static Calls our_calls(const std::string& names) {
        Calls calls;
        const auto pattern = report::Pattern::compile(names);
        for (const auto& peek :
             report::peek(many_stacks(), report::By::kFunction, *pattern, report::Sort::kSelf)) {
            for (const auto& caller : peek.callers) {
                calls[{caller.group.name, peek.row.group.name}] = caller.weight.count;
            }
            for (const auto& callee : peek.callees) {
                calls[{peek.row.group.name, callee.group.name}] = callee.weight.count;
            }
        }
        return calls;
    }

    static std::optional<report::Pattern> pattern(const std::string& text) {
        return std::move(*report::Pattern::compile(text));
    }

private:
    test::TemporaryDirectory directory_;
    std::string path_ = directory_ / "many.pb";
};

TEST_F(Report, CountsSelfAndTotalAsPprofDoes) {
    const Functions functions = our_top({});
    EXPECT_EQ(functions, pprof_top({}));
    EXPECT_GT(functions.size(), kFunctions / 2);
}

TEST_F(Report, FocusesAsPprofDoes) {
    EXPECT_EQ(our_top({.focus = pattern("^f(3|7|12)$")}), pprof_top({"-focus=^f(3|7|12)$"}));
    EXPECT_EQ(our_top({.focus = pattern("part2\\.c")}), pprof_top({"-focus=part2\\.c"}));
    EXPECT_EQ(our_top({.focus = pattern("liby")}), pprof_top({"-focus=liby"}));
}

TEST_F(Report, IgnoresAsPprofDoes) {
    const Functions functions = our_top({.ignore = pattern("^f1")});
    EXPECT_EQ(functions, pprof_top({"-ignore=^f1"}));
    EXPECT_FALSE(functions.empty());
    EXPECT_EQ(our_top({.focus = pattern("f2"), .ignore = pattern("f1.$")}),
              pprof_top({"-focus=f2", "-ignore=f1.$"}));
}

TEST_F(Report, HidesAsPprofDoes) {
    EXPECT_EQ(our_top({.hide = pattern("^f.$")}), pprof_top({"-hide=^f.$"}));
    EXPECT_EQ(our_top({.hide = pattern("libx")}), pprof_top({"-hide=libx"}));
    EXPECT_EQ(our_top({.hide = pattern("part[01]")}), pprof_top({"-hide=part[01]"}));
}

TEST_F(Report, ShowsFromAFunctionAsPprofDoes) {
    EXPECT_EQ(our_top({.show_from = pattern("^f2")}), pprof_top({"-show_from=^f2"}));
    EXPECT_EQ(our_top({.show_from = pattern("liby")}), pprof_top({"-show_from=liby"}));
    EXPECT_EQ(our_top({.focus = pattern("f5"),
                       .ignore = pattern("f33"),
                       .hide = pattern("f1.$"),
                       .show_from = pattern("f[2-9]$")}),
              pprof_top({"-focus=f5", "-ignore=f33", "-hide=f1.$", "-show_from=f[2-9]$"}));
}

TEST_F(Report, CountsCallersAndCalleesAsPprofDoes) {
    const Calls calls = our_calls("f");
    EXPECT_EQ(calls, pprof_calls({"-tree"}));
    EXPECT_GT(calls.size(), kFunctions);
}

TEST_F(Report, PeeksAsPprofDoes) {
    EXPECT_EQ(our_calls("^f(5|31)$"), pprof_calls({"-peek=^f(5|31)$"}));
}

}  // namespace
}  // namespace bobbin
