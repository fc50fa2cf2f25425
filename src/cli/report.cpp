// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/report_text.h"
#include "cli/standard_output.h"
#include "cli/terminal_text.h"
#include "output/read_profile.h"
#include "report/filter.h"

namespace bobbin::cli {
namespace {

constexpr std::size_t kDefaultRows = 30;
constexpr std::size_t kDefaultNodes = 300;
constexpr std::uint64_t kLeastTreeShare = 200;  // nodes below 1/200 of what is shown are left out

// Some files say how often and not how much.
void measure_by_count(symbolize::NamedProfile& profile) {
    if (report::weight_of(profile).value > 0) return;
    profile.value_type = profile.count_type;
    for (symbolize::NamedStack& stack : profile.stacks) stack.value = stack.count;
}

}  // namespace

ReportAnswer make_report(const ReportCommand& command, symbolize::NamedProfile profile) {
    measure_by_count(profile);
    ReportAnswer answer{.file = command.path,
                        .count_type = profile.count_type,
                        .value_type = profile.value_type,
                        .all = report::weight_of(profile),
                        .shown = {},
                        .duration = profile.duration,
                        .grouping = command.grouping,
                        .max_rows = command.top.value_or(kDefaultRows),
                        .rows = {}};
    report::apply(command.filter, profile);
    answer.shown = report::weight_of(profile);
    const report::By by = command.grouping.by;
    if (command.peek) {
        answer.rows = report::peek(profile, by, *command.peek, command.sort);
    } else if (command.tree) {
        const std::size_t nodes = command.top.value_or(kDefaultNodes);
        answer.rows = report::make_call_tree(
            profile, by,
            {.min_value = std::max<std::uint64_t>(1, answer.shown.value / kLeastTreeShare),
             .max_nodes = nodes == 0 ? SIZE_MAX : nodes});
    } else {
        answer.rows = report::make_table(profile, command.grouping, command.sort);
    }
    return answer;
}

UserError explain_profile_failure(const Error& error, const std::string& path) {
    UserError failure{"cannot read a profile: " + error.message(),
                      "bobbin reads what `bobbin record` writes, and pprof's files of others",
                      "file " + shell_quote(path)};
    switch (error.code().value()) {
        case ENOENT:
            failure.why = "there is no such file";
            failure.run = "sudo bobbin record -d 10 -o " + shell_quote(path);
            break;
        case EACCES:
        case EPERM:
            failure.why = "this user may not read it";
            failure.run = "ls -l " + shell_quote(path);
            break;
        default:
            break;
    }
    return failure;
}

int run_report(const ReportCommand& command) {
    auto profile = output::read_profile(command.path, command.sample_type);
    if (!profile) {
        return fail_with_message(explain_profile_failure(profile.error(), command.path));
    }
    const ReportAnswer report = make_report(command, std::move(*profile));
    switch (command.style) {
        case ReportCommand::Style::kJson:
            return answer(to_json(report));
        case ReportCommand::Style::kMarkdown:
            return answer(to_markdown(report));
        case ReportCommand::Style::kText:
            break;
    }
    return answer(to_text(report, terminal_of_standard_output()));
}

}  // namespace bobbin::cli
