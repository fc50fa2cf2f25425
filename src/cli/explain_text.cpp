// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "cli/explain.h"
#include "cli/terminal_text.h"
#include "profile/walk_end_name.h"
#include "report/weight.h"

namespace bobbin::cli {
namespace {

using Kind = report::Problem::Kind;
using Json = nlohmann::ordered_json;

constexpr std::size_t kModulesShown = 30;
constexpr double kLeastShareShown = 0.001;  // smaller problems are summed up

std::string module_name(const report::ModuleFacts& module) {
    const std::string name = printable(module.module);
    const std::string_view runtime = report::name_of(module.runtime);
    return runtime.empty() ? name : fmt::format("{} of {}", name, runtime);
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-" : percent(report::share_of(part, whole));
}

std::uint64_t unwound(const report::ModuleFacts& module) {
    return module.frames - std::min(module.frames, module.ended_early());
}

std::string describe_names(const report::Explanation& explanation) {
    return fmt::format("{} named · {} with lines",
                       share_text(explanation.named_frame_count, explanation.frame_count),
                       share_text(explanation.frame_count_with_lines, explanation.frame_count));
}

std::string describe_modules(const report::Explanation& explanation) {
    std::string text = fmt::format("{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}  module\n", "frames", "unwound",
                                   "by fp", "named", "lines", "inlined");
    const std::size_t shown = std::min(explanation.modules.size(), kModulesShown);
    for (std::size_t i = 0; i < shown; ++i) {
        const report::ModuleFacts& module = explanation.modules[i];
        text += fmt::format("{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}  {}\n",
                            share_text(module.frames, explanation.frame_count),
                            share_text(unwound(module), module.frames),
                            share_text(module.left_by_frame_pointer, module.frames),
                            share_text(module.named, module.frames),
                            share_text(module.with_lines, module.frames),
                            share_text(module.with_inlined, module.frames), module_name(module));
    }
    if (shown < explanation.modules.size()) {
        text += fmt::format("and {} more\n", thousands(explanation.modules.size() - shown));
    }
    return text;
}

std::string describe_problem(const ExplainedProblem& explained, const report::ModuleFacts& module) {
    const report::Problem& problem = explained.problem;
    std::string text = percent(problem.share);
    switch (problem.kind) {
        case Kind::kStacks:
            text += fmt::format(" of stacks end in {}: {}\n", module_name(module),
                                report::text_of(problem.end));
            break;
        case Kind::kNames:
            text += fmt::format(" of frames have no name: {}\n", module_name(module));
            break;
        case Kind::kLines:
            text += fmt::format(" of frames have no line: {}\n", module_name(module));
            break;
    }
    text += fmt::format("    {}\n", explained.advice.text);
    if (!explained.advice.run.empty()) text += fmt::format("    run:  {}\n", explained.advice.run);
    return text;
}

std::string_view name_of(Kind kind) {
    switch (kind) {
        case Kind::kStacks:
            return "stacks";
        case Kind::kNames:
            return "names";
        case Kind::kLines:
            return "lines";
    }
    return "";
}

Json to_json(const ExplainedProblem& explained, const report::ModuleFacts& module) {
    Json json{{"kind", name_of(explained.problem.kind)},
              {"module", module.module},
              {"share", explained.problem.share}};
    if (module.runtime != report::Runtime::kNone) json["runtime"] = report::name_of(module.runtime);
    if (explained.problem.kind == Kind::kStacks) {
        json["stack_end"] = profile::name_of(explained.problem.end);
        json["reason"] = report::text_of(explained.problem.end);
    }
    json["advice"] = explained.advice.text;
    if (!explained.advice.run.empty()) json["run"] = explained.advice.run;
    return json;
}

Json to_json(const report::ModuleFacts& module) {
    Json json{{"module", module.module},
              {"build_id", module.build_id},
              {"frames", module.frames},
              {"unwound", unwound(module)},
              {"left_by_frame_pointer", module.left_by_frame_pointer},
              {"named", module.named},
              {"with_lines", module.with_lines},
              {"with_inlined", module.with_inlined},
              {"stacks_ended_early", module.ended_early()}};
    if (module.runtime != report::Runtime::kNone) json["runtime"] = report::name_of(module.runtime);
    return json;
}

}  // namespace

std::string describe_stacks(const std::array<std::uint64_t, abi::WALK_END_COUNT>& by_walk_end) {
    const std::uint64_t all =
        std::accumulate(by_walk_end.begin(), by_walk_end.end(), std::uint64_t{0});
    std::uint64_t complete = 0;
    std::vector<std::size_t> others;
    for (std::size_t end = 0; end < by_walk_end.size(); ++end) {
        if (report::is_complete(static_cast<abi::walk_end>(end))) {
            complete += by_walk_end.at(end);
        } else if (by_walk_end.at(end) > 0) {
            others.push_back(end);
        }
    }
    std::ranges::stable_sort(others, [&](std::size_t a, std::size_t b) {
        return by_walk_end.at(a) > by_walk_end.at(b);
    });
    std::string text = percent(report::share_of(complete, all)) + " complete";
    for (const std::size_t end : others) {
        text += fmt::format(" · {} {}", percent(report::share_of(by_walk_end.at(end), all)),
                            report::text_of(static_cast<abi::walk_end>(end)));
    }
    return text;
}

std::string to_text(const ExplainAnswer& answer) {
    const report::Explanation& explanation = answer.explanation;
    if (explanation.sample_count == 0) return "no samples\n";
    std::string text =
        fmt::format("Stacks   {}\nSymbols  {}\n\n{}", describe_stacks(explanation.by_walk_end),
                    describe_names(explanation), describe_modules(explanation));
    std::size_t small = 0;
    for (const ExplainedProblem& explained : answer.problems) {
        if (explained.problem.share < kLeastShareShown) {
            ++small;
            continue;
        }
        text += '\n' + describe_problem(explained, explanation.modules[explained.problem.module]);
    }
    if (small > 0) {
        text += fmt::format("\n{} of less than {} each: --json has them\n", thousands(small),
                            percent(kLeastShareShown));
    }
    if (answer.problems.empty()) text += "\nnothing is missing\n";
    return text;
}

std::string to_json(const ExplainAnswer& answer) {
    const report::Explanation& explanation = answer.explanation;
    Json stacks = Json::object();
    for (std::size_t end = 0; end < explanation.by_walk_end.size(); ++end) {
        const std::uint64_t count = explanation.by_walk_end.at(end);
        if (count > 0) stacks[profile::name_of(static_cast<abi::walk_end>(end))] = count;
    }
    Json modules = Json::array();
    for (const report::ModuleFacts& module : explanation.modules)
        modules.push_back(to_json(module));
    Json problems = Json::array();
    for (const ExplainedProblem& explained : answer.problems) {
        problems.push_back(to_json(explained, explanation.modules[explained.problem.module]));
    }
    const Json json{{"samples", explanation.sample_count},
                    {"stack_ends", std::move(stacks)},
                    {"frames", explanation.frame_count},
                    {"named", explanation.named_frame_count},
                    {"with_lines", explanation.frame_count_with_lines},
                    {"modules", std::move(modules)},
                    {"problems", std::move(problems)}};
    // Names in a file are any bytes.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bobbin::cli
