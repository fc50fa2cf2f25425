// SPDX-License-Identifier: Apache-2.0
#include "sampler/process_labels.h"

#include <fmt/format.h>

#include <fstream>
#include <ios>

namespace bobbin::sampler {
namespace {

constexpr std::size_t kMaxCgroupBytes = 64 << 10;

std::string read_bounded(const std::string& path) {
    std::ifstream file(path);
    std::string text(kMaxCgroupBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::optional<CgroupTree> tree_of_this_machine() {
    auto tree = CgroupTree::open();
    return tree ? std::optional(std::move(*tree)) : std::nullopt;
}

}  // namespace

ProcessLabelReader::ProcessLabelReader() : ProcessLabelReader("/proc", tree_of_this_machine()) {}

ProcessLabelReader::Labels ProcessLabelReader::read_cgroup(std::uint64_t cgroup_id) const {
    const auto path = tree_ ? tree_->path_of(cgroup_id) : std::nullopt;
    if (!path) return {};
    return std::make_shared<const ProcessLabels>(describe_cgroup(*path));
}

ProcessLabelReader::Labels ProcessLabelReader::read_process(std::uint32_t pid) const {
    const std::string text = read_bounded(fmt::format("{}/{}/cgroup", proc_, pid));
    if (text.empty()) return {};
    return std::make_shared<const ProcessLabels>(parse_cgroup(text));
}

bool ProcessLabelReader::is_process_needed(const Labels& of_cgroup) const {
    return !of_cgroup || tree_->has_version_1_beside();
}

// One copy for all processes of a cgroup.
ProcessLabelReader::Labels ProcessLabelReader::shared(Labels labels) {
    if (!labels) return labels;
    if (const Labels* known = by_path_.find(labels->cgroup)) return *known;
    by_path_.put(labels->cgroup, labels);
    return labels;
}

void ProcessLabelReader::notice(const abi::sample_header& sample) {
    const ProcessKey process(sample.pid, sample.process_start_boot_ns);
    Labels of_cgroup;
    bool is_cgroup_known = false;
    {
        const std::scoped_lock lock(mutex_);
        if (const Labels* known = by_cgroup_.find(sample.cgroup_id)) {
            of_cgroup = *known;
            is_cgroup_known = true;
        }
        if (is_cgroup_known && !is_process_needed(of_cgroup)) return;
        if (is_cgroup_known && by_process_.find(process) != nullptr) return;
    }
    if (!is_cgroup_known) of_cgroup = read_cgroup(sample.cgroup_id);
    Labels of_process = is_process_needed(of_cgroup) ? read_process(sample.pid) : Labels{};
    const std::scoped_lock lock(mutex_);
    if (!is_cgroup_known) by_cgroup_.put(sample.cgroup_id, of_cgroup);
    if (is_process_needed(of_cgroup)) by_process_.put(process, shared(std::move(of_process)));
}

ProcessLabels ProcessLabelReader::find(std::uint32_t pid, std::uint64_t process_start_boot_ns,
                                       std::uint64_t cgroup_id) const {
    {
        const std::scoped_lock lock(mutex_);
        const Labels* const of_process = by_process_.find({pid, process_start_boot_ns});
        if (of_process != nullptr && *of_process) return **of_process;
        const Labels* const of_cgroup = by_cgroup_.find(cgroup_id);
        if (of_cgroup != nullptr) return *of_cgroup ? **of_cgroup : ProcessLabels{};
    }
    // Forgotten meanwhile; the cgroup may still be there.
    const Labels again = read_cgroup(cgroup_id);
    return again ? *again : ProcessLabels{};
}

}  // namespace bobbin::sampler
