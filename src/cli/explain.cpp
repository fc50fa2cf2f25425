// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.h"

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/explain_packages.h"
#include "cli/report.h"
#include "cli/standard_output.h"
#include "output/read_profile.h"

namespace bobbin::cli {
namespace {

constexpr std::size_t kMaxPaths = 64;  // that dpkg is asked for, of the largest problems

std::string running_kernel() {
    utsname name{};
    return ::uname(&name) == 0 ? std::string(name.release) : std::string();
}

// Where Debian's debug packages put it: by build id, the first byte as a folder.
bool has_debug_file(const std::string& build_id) {
    const bool is_hex =
        build_id.size() > 2 && build_id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_hex) return false;
    const std::string path = fmt::format("/usr/lib/debug/.build-id/{}/{}.debug",
                                         build_id.substr(0, 2), build_id.substr(2));
    return ::access(path.c_str(), F_OK) == 0;
}

ExplainAnswer explain_here(const symbolize::NamedProfile& profile) {
    ExplainAnswer answer{.explanation = report::explain(profile), .problems = {}};
    const std::vector<report::Problem> problems = report::problems_of(answer.explanation);
    std::vector<std::string> paths;
    for (const report::Problem& problem : problems) {
        const std::string& module = answer.explanation.modules[problem.module].module;
        const bool is_new = std::ranges::find(paths, module) == paths.end();
        const bool is_for_dpkg = problem.kind != report::Problem::Kind::kStacks &&
                                 module.starts_with('/') && paths.size() < kMaxPaths;
        if (is_for_dpkg && is_new) paths.push_back(module);
    }
    const std::map<std::string, std::string> packages = find_packages(paths);
    const std::string kernel = running_kernel();
    for (const report::Problem& problem : problems) {
        const report::ModuleFacts& module = answer.explanation.modules[problem.module];
        const auto package = packages.find(module.module);
        const report::FileFacts file{
            .package = package == packages.end() ? std::string() : package->second,
            .has_debug_file = has_debug_file(module.build_id),
            .kernel_release = kernel,
            .was_asked = true};
        answer.problems.push_back({problem, report::advise(problem, module, file)});
    }
    return answer;
}

}  // namespace

int run_explain(const ExplainCommand& command) {
    const auto profile = output::read_profile(command.path);
    if (!profile) {
        return fail_with_message(explain_profile_failure(profile.error(), command.path));
    }
    const ExplainAnswer explained = explain_here(*profile);
    return answer(command.json ? to_json(explained) : to_text(explained));
}

}  // namespace bobbin::cli
