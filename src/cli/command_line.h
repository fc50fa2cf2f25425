// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/errors.h"
#include "cli/exit_status.h"
#include "config/record_config.h"
#include "output/output_file.h"
#include "push/target.h"
#include "report/diff.h"
#include "report/filter.h"
#include "report/function_table.h"
#include "report/grouping.h"
#include "report/pattern.h"
#include "sampler/cgroup_tree.h"
#include "store/store.h"
#include "store/where.h"

namespace bobbin::cli {

struct TopCommand {
    static constexpr std::chrono::milliseconds kMinInterval{200};
    static constexpr std::chrono::seconds kMaxInterval{10};

    config::RecordConfig sampling;  // without outputs and command
    std::chrono::nanoseconds interval = std::chrono::seconds{1};
};
struct DoctorCommand {
    bool json = false;
};
struct ObjectInfoCommand {
    std::string path;
    bool json = false;
};
struct ShowUnwindCommand {
    std::string path;
    std::optional<std::uint64_t> pc_file_vaddr;
};
struct ReportCommand {
    enum class Style { kText, kJson, kMarkdown };
    std::string path;         // "-": standard input
    std::string sample_type;  // empty: the file's own choice
    report::Grouping grouping;
    std::optional<std::size_t> top;  // 0: all
    report::Sort sort = report::Sort::kSelf;
    report::Filter filter;
    std::optional<report::Pattern> peek;
    bool tree = false;
    Style style = Style::kText;
};
struct DiffCommand {
    enum class Style { kText, kJson, kMarkdown };
    std::string base_path;  // of the two one may be "-", standard input
    std::string path;
    report::DiffOptions options;
    std::optional<double> fail_above;  // growth of the base's amount: 0.05
    std::size_t top = 30;              // 0: all
    Style style = Style::kText;
    std::vector<std::string> outputs;  // .html, .json, .md
};
struct ViewCommand {
    std::string path;  // "-": standard input
    std::optional<std::string> base_path;
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: one that is free
    bool may_open = true;    // a browser
};
struct ConvertCommand {
    std::string path;         // "-": standard input
    std::string sample_type;  // empty: the file's own choice
    std::vector<output::OutputFile> outputs;
};
struct ExplainCommand {
    std::string path;  // "-": standard input
    bool json = false;
};
struct DaemonCommand {
    std::string config_path;
    bool check_only = false;
};
struct QueryCommand {
    struct Comparison {
        store::Range base;
        DiffCommand diff;  // its paths name the ranges
    };
    std::string store_path;  // empty: what the configuration says
    std::string config_path;
    store::Range range{};
    store::Where where;
    ReportCommand table;  // its path names the range
    std::vector<output::OutputFile> outputs;
    std::optional<Comparison> comparison;
    bool list = false;
};
struct CtlCommand {
    enum class Action { kStatus, kSnapshot, kBoost, kPause, kResume, kReload };
    Action action = Action::kStatus;
    std::string config_path;
    std::chrono::nanoseconds last = std::chrono::minutes{10};
    std::vector<output::OutputFile> outputs;
    std::uint32_t frequency_hz = 199;
    std::chrono::nanoseconds duration = std::chrono::minutes{1};
    bool json = false;
};
struct PushCommand {
    std::string path;  // "-": standard input
    push::Target target;
    push::Labels labels;
};
// Nothing left to do: help, version or an error was printed.
struct Finished {
    int exit_status = kExitOk;
};

// What a command line asks for, or one of `Ends`.
template <class... Ends>
using CommandOr =
    std::variant<config::RecordConfig, TopCommand, ReportCommand, DiffCommand, ViewCommand,
                 ConvertCommand, ExplainCommand, DaemonCommand, QueryCommand, CtlCommand,
                 PushCommand, DoctorCommand, ObjectInfoCommand, ShowUnwindCommand, Ends...>;
using Command = CommandOr<Finished>;

// argv -> one checked command. Prints help and version to stdout, errors to stderr. Opens nothing
// but the places where the profiles will be written.
Command parse_command_line(int argc, const char* const* argv);

// What a command line is checked against.
struct Surroundings {
    std::optional<std::uint32_t> max_sample_rate_hz;  // kernel.perf_event_max_sample_rate
    // The process a pid or tid belongs to; nullopt: there is none.
    std::function<std::optional<pid_t>(pid_t)> process_of;
    // Where cgroups of version 2 are; an error says that there are none.
    std::function<Result<sampler::CgroupTree>()> cgroup_tree;
    std::string debuginfod_urls;  // servers of debug files, separated by blanks; empty: none
    // Why this process may not record (explain_not_root), said before any file is touched.
    std::optional<UserError> rights_missing;
};
// `invocation` is argv, for the command to paste.
Surroundings this_machine(std::span<const std::string> invocation);

// Text asked for: help, version.
struct Answer {
    std::string text;
};
using Understood = CommandOr<Answer, UserError>;

// The same without printing. `arguments` begin behind the program's name.
Understood understand(std::span<const std::string> arguments, const Surroundings& surroundings);

}  // namespace bobbin::cli
