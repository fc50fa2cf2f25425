// SPDX-License-Identifier: Apache-2.0
#include "cli/target_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bobbin/bpf_abi.h"
#include "cli/exit_status.h"
#include "cli/terminal_text.h"
#include "sampler/cgroup_labels.h"
#include "sampler/cgroup_tree.h"

namespace bobbin::cli {
namespace {

using config::RecordConfig;
using sampler::Cgroup;
using sampler::CgroupTree;
using Checked = tl::expected<void, UserError>;

tl::unexpected<UserError> refuse_target(std::string what, std::string why) {
    return tl::unexpected(usage_error(find_verb("record"), std::move(what), std::move(why)));
}

tl::unexpected<UserError> not_there(std::string what, std::string why, std::string run) {
    return tl::unexpected(UserError{std::move(what), std::move(why), std::move(run), kExitUsage});
}

template <class T>
Checked sort_and_limit(std::vector<T>& targets, std::size_t limit, std::string_view flags) {
    std::ranges::sort(targets);
    const auto repeated = std::ranges::unique(targets);
    targets.erase(repeated.begin(), repeated.end());
    if (targets.size() <= limit) return {};
    return refuse_target(fmt::format("{} {} are too many", thousands(targets.size()), flags),
                         fmt::format("at most {} can be told apart", thousands(limit)));
}

// ---- processes and threads
// -----------------------------------------------------------------------

std::optional<pid_t> parse_pid(std::string_view text) {
    constexpr pid_t kMaxPid = 4'194'304;  // PID_MAX_LIMIT of <linux/threads.h>
    pid_t pid = 0;
    const char* const text_end = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), text_end, pid);
    if (problem != std::errc{} || end != text_end || pid < 1 || pid > kMaxPid) return std::nullopt;
    return pid;
}

Checked add_pid(std::string_view text, const Surroundings& surroundings, RecordConfig& config) {
    const std::optional<pid_t> pid = parse_pid(text);
    if (!pid) {
        return refuse_target(fmt::format("-p {}: not a process id", shell_quote(text)),
                             "it takes one number, or several with commas: -p 4242,4243");
    }
    const std::optional<pid_t> process = surroundings.process_of(*pid);
    if (!process) {
        return not_there(fmt::format("there is no process {}", *pid),
                         "-p takes processes that run now; this one may have ended",
                         "ps -e -o pid,user,args");
    }
    if (*process != *pid) {
        return not_there(fmt::format("{} is a thread of process {}", *pid, *process),
                         "-p takes whole processes, -t single threads",
                         fmt::format("bobbin record -p {}", *process));
    }
    config.pids.push_back(*pid);
    return {};
}

Checked add_tid(std::string_view text, const Surroundings& surroundings, RecordConfig& config) {
    const std::optional<pid_t> tid = parse_pid(text);
    if (!tid) {
        return refuse_target(fmt::format("-t {}: not a thread id", shell_quote(text)),
                             "it takes one number, or several with commas: -t 4242,4243");
    }
    if (!surroundings.process_of(*tid)) {
        return not_there(fmt::format("there is no thread {}", *tid),
                         "-t takes threads that run now; this one may have ended",
                         "ps -eL -o pid,tid,comm");
    }
    config.tids.push_back(*tid);
    return {};
}

// "42,43"
using AddId = Checked (*)(std::string_view, const Surroundings&, RecordConfig&);
Checked add_list(std::string_view list, AddId add, const Surroundings& surroundings,
                 RecordConfig& config) {
    while (true) {
        const std::size_t comma = list.find(',');
        Checked added = add(list.substr(0, comma), surroundings, config);
        if (!added || comma == std::string_view::npos) return added;
        list.remove_prefix(comma + 1);
    }
}

Checked read_ids(const SplitArguments& arguments, const Surroundings& surroundings,
                 RecordConfig& config) {
    for (const std::string_view list : arguments.all("pid")) {
        if (Checked added = add_list(list, add_pid, surroundings, config); !added) return added;
    }
    for (const std::string_view list : arguments.all("tid")) {
        if (Checked added = add_list(list, add_tid, surroundings, config); !added) return added;
    }
    Checked limited = sort_and_limit(config.pids, abi::MAX_TARGET_PROCESSES, "processes");
    if (!limited) return limited;
    return sort_and_limit(config.tids, abi::MAX_TARGET_PROCESSES, "threads");
}

// ---- cgroups
// -------------------------------------------------------------------------------------

void add_cgroups(const std::vector<Cgroup>& cgroups, RecordConfig& config) {
    for (const Cgroup& cgroup : cgroups) config.cgroup_ids.push_back(cgroup.id);
}

// Where a name was looked for in vain.
std::string searched(const CgroupTree& tree) {
    std::string text = "below " + tree.mount_point();
    if (tree.has_version_1_beside()) {
        text += " (this machine has cgroups of version 1 too, which bobbin does not tell apart)";
    }
    return text;
}

Checked add_cgroup(const std::string& path, const CgroupTree& tree, RecordConfig& config) {
    Result<Cgroup> cgroup = tree.at(path);
    if (cgroup) {
        config.cgroup_ids.push_back(cgroup->id);
        return {};
    }
    const bool is_missing = cgroup.error().code() == std::errc::no_such_file_or_directory;
    return not_there(is_missing ? fmt::format("there is no cgroup {}", shell_quote(path))
                                : fmt::format("cannot record cgroup {}", shell_quote(path)),
                     is_missing ? "-G takes a path " + searched(tree) : cgroup.error().message(),
                     "ls " + shell_quote(tree.mount_point()));
}

// As systemctl does: a name without a type is a service's.
std::string unit_named(const std::string& name) {
    constexpr std::array<std::string_view, 6> kTypes{".service", ".scope", ".slice",
                                                     ".socket",  ".mount", ".swap"};
    const bool has_type =
        std::ranges::any_of(kTypes, [&](std::string_view type) { return name.ends_with(type); });
    return has_type ? name : name + ".service";
}

Checked add_unit(const std::string& typed, const CgroupTree& tree, RecordConfig& config) {
    if (typed.empty() || typed.find('/') != std::string::npos) {
        return refuse_target(
            fmt::format("-u {}: not a unit's name", shell_quote(typed)),
            "units are named like nginx, session-2.scope, user.slice; -G takes paths");
    }
    const std::string unit = unit_named(typed);
    const auto cgroups =
        tree.find([&](std::string_view name, std::string_view) { return name == unit; });
    if (cgroups.empty()) {
        return not_there(fmt::format("unit {} does not run", shell_quote(unit)),
                         fmt::format("no cgroup has its name {}", searched(tree)),
                         fmt::format("systemctl status {}", shell_quote(unit)));
    }
    add_cgroups(cgroups, config);
    return {};
}

Checked add_container(const std::string& typed, const CgroupTree& tree, RecordConfig& config) {
    if (typed.empty())
        return refuse_target("--container needs an id", "an empty one is any container's");
    auto cgroups = tree.find([&](std::string_view, std::string_view path) {
        return sampler::container_of(path).starts_with(typed);
    });
    if (cgroups.empty()) {
        return not_there(fmt::format("no container {} runs", shell_quote(typed)),
                         fmt::format("no cgroup has such an id, or name of an nspawn or LXC "
                                     "machine, {}; engines' own names are not in there",
                                     searched(tree)),
                         "docker ps --no-trunc   # or: podman ps --no-trunc, machinectl");
    }
    // "web" is not "web-2" where both run.
    const auto is_other = [&](const Cgroup& cgroup) {
        return sampler::container_of(cgroup.path) != typed;
    };
    if (!std::ranges::all_of(cgroups, is_other)) std::erase_if(cgroups, is_other);
    add_cgroups(cgroups, config);
    return {};
}

Checked read_cgroups(const SplitArguments& arguments, const Surroundings& surroundings,
                     RecordConfig& config) {
    using Add = Checked (*)(const std::string&, const CgroupTree&, RecordConfig&);
    constexpr std::array<std::pair<std::string_view, Add>, 3> kFlags{
        {{"cgroup", add_cgroup}, {"unit", add_unit}, {"container", add_container}}};
    if (std::ranges::none_of(kFlags, [&](const auto& flag) { return arguments.has(flag.first); })) {
        return {};
    }
    const Result<CgroupTree> tree = surroundings.cgroup_tree();
    if (!tree) {
        return not_there("-G, -u and --container need cgroups of version 2", tree.error().message(),
                         "grep cgroup /proc/self/mounts");
    }
    for (const auto& [flag, add] : kFlags) {
        for (const std::string& typed : arguments.all(flag)) {
            if (Checked added = add(typed, *tree, config); !added) return added;
        }
    }
    return sort_and_limit(config.cgroup_ids, abi::MAX_TARGET_CGROUPS, "cgroups");
}

// ---- names of threads
// ----------------------------------------------------------------------------

Checked read_comms(const SplitArguments& arguments, RecordConfig& config) {
    for (const std::string& name : arguments.all("comm")) {
        if (name.empty() || name == "*") {
            return refuse_target(fmt::format("--comm {}: not a thread's name", shell_quote(name)),
                                 "-a records the whole machine");
        }
        config.comms.push_back(name);
    }
    return sort_and_limit(config.comms, abi::MAX_TARGET_COMMS, "names of threads");
}

}  // namespace

Checked read_targets(const SplitArguments& arguments, const Surroundings& surroundings,
                     RecordConfig& config) {
    Checked read = read_ids(arguments, surroundings, config);
    if (read) read = read_cgroups(arguments, surroundings, config);
    if (read) read = read_comms(arguments, config);
    if (!read || !arguments.has("all")) return read;
    config.pids.clear();
    config.tids.clear();
    config.cgroup_ids.clear();
    config.comms.clear();
    return {};
}

}  // namespace bobbin::cli
