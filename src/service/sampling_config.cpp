// SPDX-License-Identifier: Apache-2.0
#include "service/sampling_config.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "config/debuginfod_urls.h"
#include "sampler/cgroup_tree.h"

namespace bobbin::service {
namespace {

// A minute of 64 busy CPUs at 19 Hz has 73,000 samples, of which most are like others. What is
// beyond is counted by its innermost frame; the service closes a segment before that.
constexpr std::uint64_t kMaxStackBytes = 32ULL << 20;

// No cgroup has it: chosen where none of the wanted units runs, because without any target
// everybody would be sampled.
constexpr std::uint64_t kNoCgroup = 0;

// As systemctl does: a name without a type is a service's.
std::string with_type(const std::string& unit) {
    constexpr std::array<std::string_view, 3> kTypes{".service", ".scope", ".slice"};
    const bool has_type =
        std::ranges::any_of(kTypes, [&](std::string_view type) { return unit.ends_with(type); });
    return has_type ? unit : unit + ".service";
}

}  // namespace

std::vector<std::uint64_t> find_unit_cgroups(const std::vector<std::string>& units) {
    std::vector<std::uint64_t> ids;
    const auto tree = sampler::CgroupTree::open();
    if (!tree || units.empty()) return ids;
    std::vector<std::string> wanted(units.size());
    std::ranges::transform(units, wanted.begin(), with_type);
    const auto found = tree->find([&](std::string_view name, std::string_view) {
        return std::ranges::find(wanted, name) != wanted.end();
    });
    for (const sampler::Cgroup& cgroup : found) ids.push_back(cgroup.id);
    std::ranges::sort(ids);
    return ids;
}

Budget::Limits limits_of(const config::DaemonConfig& config) {
    return {.cpu_percent = config.budget.cpu_percent,
            .memory_bytes = config.budget.memory_bytes,
            .pauses = config.budget.action == config::DaemonConfig::OverBudget::kPause};
}

symbolize::Names names_of(const config::DaemonConfig& config) {
    return config.symbols.names ? symbolize::Names::kResolve : symbolize::Names::kSkip;
}

config::RecordConfig sampling_config(const config::DaemonConfig& config) {
    config::RecordConfig sampling{
        .frequency_hz = config.profile.frequency_hz,
        .outputs = {},
        .pids = {},
        .tids = {},
        .cgroup_ids = find_unit_cgroups(config.profile.units),
        .comms = config.profile.comms,
        .command = {},
        .whole_machine = config.profile.units.empty() && config.profile.comms.empty(),
        .scope = config.profile.scope,
        .max_unwind_memory_bytes = config.budget.unwind_memory_bytes,
        .max_memory_bytes = config.budget.memory_bytes,
        .max_stack_bytes = std::min(kMaxStackBytes, config.budget.memory_bytes / 8),
        .name_style = config.symbols.style,
        .debuginfod_urls = config.symbols.debuginfod ? config::find_debuginfod_urls() : "",
    };
    if (!config.profile.units.empty() && sampling.cgroup_ids.empty()) {
        sampling.cgroup_ids.push_back(kNoCgroup);
    }
    return sampling;
}

bool samples_alike(const config::DaemonConfig& a, const config::DaemonConfig& b) {
    return a.profile.units == b.profile.units && a.profile.comms == b.profile.comms &&
           a.profile.scope == b.profile.scope &&
           a.budget.unwind_memory_bytes == b.budget.unwind_memory_bytes &&
           a.budget.memory_bytes == b.budget.memory_bytes && a.symbols.style == b.symbols.style &&
           a.symbols.debuginfod == b.symbols.debuginfod;
}

}  // namespace bobbin::service
