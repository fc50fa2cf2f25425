// SPDX-License-Identifier: Apache-2.0
#include "cli/target_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_number.h"
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

void refuse_missing(ArgumentReader& reader, std::string what, std::string why, std::string run) {
    reader.refuse(UserError{std::move(what), std::move(why), std::move(run), kExitUsage});
}

template <class T>
void sort_and_limit(ArgumentReader& reader, std::vector<T>& targets, std::size_t limit,
                    std::string_view kind) {
    std::ranges::sort(targets);
    const auto repeated = std::ranges::unique(targets);
    targets.erase(repeated.begin(), repeated.end());
    if (targets.size() <= limit) return;
    reader.refuse(fmt::format("{} {} are too many", thousands(targets.size()), kind),
                  fmt::format("at most {} can be told apart", thousands(limit)));
}

// ---- processes and threads
// -----------------------------------------------------------------------

struct IdKind {
    std::string_view flag;
    char letter;
    std::string_view name;
    std::string_view plural;
    std::string_view listing;
};
constexpr IdKind kProcess{"pid", 'p', "process", "processes", "ps -e -o pid,user,args"};
constexpr IdKind kThread{"tid", 't', "thread", "threads", "ps -eL -o pid,tid,comm"};

std::optional<pid_t> parse_id(std::string_view text) {
    constexpr pid_t kMaxPid = 4'194'304;  // PID_MAX_LIMIT of <linux/threads.h>
    const auto id = parse_number<pid_t>(text);
    return id && *id >= 1 && *id <= kMaxPid ? id : std::nullopt;
}

void add_id(ArgumentReader& reader, const Surroundings& surroundings, const IdKind& kind,
            std::string_view text, std::vector<pid_t>& ids) {
    const std::optional<pid_t> id = parse_id(text);
    if (!id) {
        return reader.refuse_value(
            kind.flag, text, fmt::format("not a {} id", kind.name),
            fmt::format("it takes one number, or several with commas: -{} 4242,4243", kind.letter));
    }
    const std::optional<pid_t> process = surroundings.process_of(*id);
    if (!process) {
        return refuse_missing(reader, fmt::format("there is no {} {}", kind.name, *id),
                              fmt::format("-{} takes {} that run now; this one may have ended",
                                          kind.letter, kind.plural),
                              std::string(kind.listing));
    }
    if (&kind == &kProcess && *process != *id) {
        return refuse_missing(reader, fmt::format("{} is a thread of process {}", *id, *process),
                              "-p takes whole processes, -t single threads",
                              fmt::format("bobbin {} -p {}", reader.verb().name, *process));
    }
    ids.push_back(*id);
}

// "42,43", and many times.
void read_ids(ArgumentReader& reader, const Surroundings& surroundings, const IdKind& kind,
              std::vector<pid_t>& ids) {
    for (std::string_view list : reader.arguments().all(kind.flag)) {
        for (auto comma = list.find(','); comma != std::string_view::npos; comma = list.find(',')) {
            add_id(reader, surroundings, kind, list.substr(0, comma), ids);
            list.remove_prefix(comma + 1);
        }
        add_id(reader, surroundings, kind, list, ids);
    }
    sort_and_limit(reader, ids, abi::MAX_TARGET_PROCESSES, kind.plural);
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

void add_cgroup(ArgumentReader& reader, const std::string& path, const CgroupTree& tree,
                RecordConfig& config) {
    Result<Cgroup> cgroup = tree.at(path);
    if (cgroup) {
        config.cgroup_ids.push_back(cgroup->id);
        return;
    }
    const bool is_missing = cgroup.error().code() == std::errc::no_such_file_or_directory;
    refuse_missing(reader,
                   is_missing ? fmt::format("there is no cgroup {}", shell_quote(path))
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

void add_unit(ArgumentReader& reader, const std::string& typed, const CgroupTree& tree,
              RecordConfig& config) {
    if (typed.empty() || typed.find('/') != std::string::npos) {
        return reader.refuse_value(
            "unit", typed, "not a unit's name",
            "units are named like nginx, session-2.scope, user.slice; -G takes paths");
    }
    const std::string unit = unit_named(typed);
    const auto cgroups =
        tree.find([&](std::string_view name, std::string_view) { return name == unit; });
    if (cgroups.empty()) {
        return refuse_missing(reader, fmt::format("unit {} does not run", shell_quote(unit)),
                              fmt::format("no cgroup has its name {}", searched(tree)),
                              fmt::format("systemctl status {}", shell_quote(unit)));
    }
    add_cgroups(cgroups, config);
}

void add_container(ArgumentReader& reader, const std::string& typed, const CgroupTree& tree,
                   RecordConfig& config) {
    if (typed.empty())
        return reader.refuse("--container needs an id", "an empty one is any container's");
    auto cgroups = tree.find([&](std::string_view, std::string_view path) {
        return sampler::container_of(path).starts_with(typed);
    });
    if (cgroups.empty()) {
        return refuse_missing(reader, fmt::format("no container {} runs", shell_quote(typed)),
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
}

void read_cgroups(ArgumentReader& reader, const Surroundings& surroundings, RecordConfig& config) {
    using Add = void (*)(ArgumentReader&, const std::string&, const CgroupTree&, RecordConfig&);
    constexpr std::array<std::pair<std::string_view, Add>, 3> kFlags{
        {{"cgroup", add_cgroup}, {"unit", add_unit}, {"container", add_container}}};
    if (std::ranges::none_of(kFlags, [&](const auto& flag) { return reader.has(flag.first); })) {
        return;
    }
    const Result<CgroupTree> tree = surroundings.cgroup_tree();
    if (!tree) {
        return refuse_missing(reader, "-G, -u and --container need cgroups of version 2",
                              tree.error().message(), "grep cgroup /proc/self/mounts");
    }
    for (const auto& [flag, add] : kFlags) {
        for (const std::string& typed : reader.arguments().all(flag)) {
            add(reader, typed, *tree, config);
        }
    }
    sort_and_limit(reader, config.cgroup_ids, abi::MAX_TARGET_CGROUPS, "cgroups");
}

// ---- names of threads
// ----------------------------------------------------------------------------

void read_comms(ArgumentReader& reader, RecordConfig& config) {
    for (const std::string& name : reader.arguments().all("comm")) {
        if (name.empty() || name == "*") {
            reader.refuse_value("comm", name, "not a thread's name",
                                "-a records the whole machine");
        }
        config.comms.push_back(name);
    }
    sort_and_limit(reader, config.comms, abi::MAX_TARGET_COMMS, "names of threads");
}

}  // namespace

void read_targets(ArgumentReader& reader, const Surroundings& surroundings, RecordConfig& config) {
    read_ids(reader, surroundings, kProcess, config.pids);
    read_ids(reader, surroundings, kThread, config.tids);
    read_cgroups(reader, surroundings, config);
    read_comms(reader, config);
    if (!reader.has("all")) return;
    config.pids.clear();
    config.tids.clear();
    config.cgroup_ids.clear();
    config.comms.clear();
}

}  // namespace bobbin::cli
