// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>

#include "base/base_name.h"
#include "report/weight.h"

namespace bobbin::report {
namespace {

struct RuntimeSign {
    std::string_view begin_of_name;  // of a file without its folder, or of a process
    Runtime runtime;
};
constexpr std::array kRuntimeSigns{
    RuntimeSign{"libjvm.so", Runtime::kJava},
    RuntimeSign{"java", Runtime::kJava},
    RuntimeSign{"node", Runtime::kNode},
    RuntimeSign{"libnode.so", Runtime::kNode},
    RuntimeSign{"python3", Runtime::kPython},
    RuntimeSign{"libpython3", Runtime::kPython},
    RuntimeSign{"libcoreclr.so", Runtime::kDotnet},
    RuntimeSign{"dotnet", Runtime::kDotnet},
    RuntimeSign{"luajit", Runtime::kLuajit},
    RuntimeSign{"libluajit", Runtime::kLuajit},
    RuntimeSign{"php", Runtime::kPhp},
};

Runtime runtime_by_name(std::string_view name) {
    name = base_name(name);
    const auto* const found = std::ranges::find_if(kRuntimeSigns, [name](const RuntimeSign& sign) {
        return name.starts_with(sign.begin_of_name);
    });
    return found == kRuntimeSigns.end() ? Runtime::kNone : found->runtime;
}

bool is_generated(const std::string& module) { return module == "[anon]" || module == "[jit]"; }

class Explainer {
public:
    explicit Explainer(const symbolize::NamedProfile& profile) : profile_(profile) {
        for (const symbolize::Mapping& mapping : profile.mappings) {
            runtime_of_mapping_.push_back(runtime_by_name(mapping.file));
        }
    }

    Explanation explain() {
        for (const symbolize::NamedStack& stack : profile_.stacks) add(stack);
        std::ranges::stable_sort(explanation_.modules, std::ranges::greater{},
                                 &ModuleFacts::frames);
        return std::move(explanation_);
    }

private:
    void add(const symbolize::NamedStack& stack) {
        explanation_.sample_count += stack.count;
        explanation_.by_walk_end.at(stack.walk_end) += stack.count;
        std::optional<Runtime> runtime;  // found when it is needed
        const auto facts_at = [&](const symbolize::Location& location) -> ModuleFacts& {
            const std::string& module = module_of(location);
            if (!is_generated(module)) return facts_of(location, Runtime::kNone);
            if (!runtime) runtime = runtime_of(stack);
            return facts_of(location, *runtime);
        };
        for (const std::uint32_t index : stack.locations) {
            const symbolize::Location& location = profile_.locations[index];
            count(location, stack.count, facts_at(location));
        }
        for (const std::uint32_t position : stack.by_frame_pointer) {
            if (position == 0) continue;
            const symbolize::Location& callee = profile_.locations[stack.locations[position - 1]];
            facts_at(callee).left_by_frame_pointer += stack.count;
        }
        if (is_complete(stack.walk_end)) return;
        const bool has_user_frame =
            !stack.locations.empty() && !profile_.locations[stack.locations.back()].is_kernel;
        ModuleFacts& last = has_user_frame ? facts_at(profile_.locations[stack.locations.back()])
                                           : facts_named(std::string(kNoUserFrame), Runtime::kNone);
        last.early_ends.at(stack.walk_end) += stack.count;
    }

    void count(const symbolize::Location& location, std::uint64_t samples, ModuleFacts& facts) {
        const bool has_line = location.is_named && location.lines.front().line != 0 &&
                              !profile_.functions[location.lines.front().function].file.empty();
        facts.frames += samples;
        explanation_.frame_count += samples;
        if (location.is_named) {
            facts.named += samples;
            explanation_.named_frame_count += samples;
        }
        if (has_line) {
            facts.with_lines += samples;
            explanation_.frame_count_with_lines += samples;
        }
        if (location.lines.size() > 1) facts.with_inlined += samples;
    }

    [[nodiscard]] const std::string& module_of(const symbolize::Location& location) const {
        static const std::string kNotKnown = "[not known]";
        if (location.mapping >= profile_.mappings.size()) return kNotKnown;
        const std::string& file = profile_.mappings[location.mapping].file;
        return file.empty() ? kNotKnown : file;
    }

    ModuleFacts& facts_of(const symbolize::Location& location, Runtime runtime) {
        ModuleFacts& facts = facts_named(module_of(location), runtime);
        facts.is_kernel |= location.is_kernel;
        if (facts.build_id.empty() && location.mapping < profile_.mappings.size()) {
            facts.build_id = profile_.mappings[location.mapping].build_id;
        }
        return facts;
    }

    ModuleFacts& facts_named(const std::string& module, Runtime runtime) {
        const auto [found, is_new] =
            number_by_module_.try_emplace(std::pair(module, runtime), explanation_.modules.size());
        if (is_new) {
            explanation_.modules.emplace_back();
            explanation_.modules.back().module = module;
            explanation_.modules.back().runtime = runtime;
        }
        return explanation_.modules[found->second];
    }

    Runtime runtime_of(const symbolize::NamedStack& stack) const {
        for (const std::uint32_t index : std::views::reverse(stack.locations)) {
            const std::uint32_t mapping = profile_.locations[index].mapping;
            if (mapping >= runtime_of_mapping_.size()) continue;
            if (runtime_of_mapping_[mapping] != Runtime::kNone) return runtime_of_mapping_[mapping];
        }
        return runtime_by_name(stack.labels.comm);
    }

    const symbolize::NamedProfile& profile_;
    std::vector<Runtime> runtime_of_mapping_;
    std::map<std::pair<std::string, Runtime>, std::size_t> number_by_module_;
    Explanation explanation_;
};

}  // namespace

std::string_view name_of(Runtime runtime) {
    switch (runtime) {
        case Runtime::kNone:
            return "";
        case Runtime::kNode:
            return "node";
        case Runtime::kJava:
            return "java";
        case Runtime::kPython:
            return "python";
        case Runtime::kDotnet:
            return "dotnet";
        case Runtime::kLuajit:
            return "luajit";
        case Runtime::kPhp:
            return "php";
    }
    return "";
}

bool is_complete(abi::walk_end end) {
    return end == abi::WALK_END_BOTTOM || end == abi::WALK_END_NO_USER_STACK ||
           end == abi::WALK_END_NOT_ASKED;
}

std::string_view text_of(abi::walk_end end) {
    static constexpr std::array<std::string_view, abi::WALK_END_COUNT> kTexts{
#define X(enumerator, name, text) text,
        BOBBIN_WALK_ENDS(X)
#undef X
    };
    return kTexts.at(end);
}

std::uint64_t ModuleFacts::ended_early() const {
    return std::accumulate(early_ends.begin(), early_ends.end(), std::uint64_t{0});
}

Explanation explain(const symbolize::NamedProfile& profile) { return Explainer(profile).explain(); }

std::vector<Problem> problems_of(const Explanation& explanation) {
    std::vector<Problem> problems;
    const auto add = [&](Problem problem, std::uint64_t part, std::uint64_t whole) {
        if (part == 0) return;
        problem.share = share_of(part, whole);
        problems.push_back(problem);
    };
    for (std::size_t i = 0; i < explanation.modules.size(); ++i) {
        const ModuleFacts& facts = explanation.modules[i];
        for (std::size_t end = 0; end < facts.early_ends.size(); ++end) {
            add({.kind = Problem::Kind::kStacks,
                 .end = static_cast<abi::walk_end>(end),
                 .module = i},
                facts.early_ends.at(end), explanation.sample_count);
        }
        add({.kind = Problem::Kind::kNames, .module = i}, facts.frames - facts.named,
            explanation.frame_count);
        add({.kind = Problem::Kind::kLines, .module = i}, facts.named - facts.with_lines,
            explanation.frame_count);
    }
    std::ranges::stable_sort(problems, std::ranges::greater{}, &Problem::share);
    return problems;
}

}  // namespace bobbin::report
