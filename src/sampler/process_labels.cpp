// SPDX-License-Identifier: Apache-2.0
#include "sampler/process_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>

namespace bobbin::sampler {
namespace {

constexpr std::size_t kMaxCgroupBytes = 64 << 10;
constexpr std::size_t kContainerIdDigits = 64;
constexpr std::size_t kShownContainerIdDigits = 12;

std::string_view next_piece(std::string_view& rest, char separator) {
    const auto end = rest.find(separator);
    const std::string_view piece = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    return piece;
}

// "12:cpu,cpuacct:/path" -> path, if it is the unified hierarchy ("0::") or systemd's named one.
std::string_view path_of_line(std::string_view line) {
    const std::string_view id = next_piece(line, ':');
    const std::string_view controllers = next_piece(line, ':');
    const bool unified = id == "0" && controllers.empty();
    return unified || controllers == "name=systemd" ? line : std::string_view{};
}

bool is_unit(std::string_view component) {
    return component.ends_with(".service") || component.ends_with(".scope");
}

// docker-<64 hex>.scope, cri-containerd-<64 hex>.scope, /docker/<64 hex>: the run of 64 hex digits.
std::string_view container_id(std::string_view component) {
    constexpr std::string_view kHex = "0123456789abcdef";
    for (std::size_t at = 0; at < component.size();) {
        const auto start = component.find_first_of(kHex, at);
        if (start == std::string_view::npos) return {};
        const auto end = std::min(component.find_first_not_of(kHex, start), component.size());
        if (end - start == kContainerIdDigits) return component.substr(start, kContainerIdDigits);
        at = end;
    }
    return {};
}

std::string read_bounded(const std::string& path) {
    std::ifstream file(path);
    std::string text(kMaxCgroupBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

}  // namespace

ProcessLabels parse_cgroup(std::string_view text) {
    ProcessLabels labels;
    while (!text.empty()) {
        const std::string_view path = path_of_line(next_piece(text, '\n'));
        if (path.size() > labels.cgroup.size()) labels.cgroup = path;
    }
    std::string_view rest = labels.cgroup;
    while (!rest.empty()) {
        const std::string_view component = next_piece(rest, '/');
        if (is_unit(component)) labels.unit = component;
        if (const auto id = container_id(component); !id.empty()) {
            labels.container = id.substr(0, kShownContainerIdDigits);
        }
    }
    return labels;
}

void ProcessLabelReader::notice(const abi::sample_header& sample) {
    const std::pair key(sample.pid, sample.process_start_boot_ns);
    {
        const std::scoped_lock lock(mutex_);
        if (by_process_.contains(key)) return;
    }
    auto labels = parse_cgroup(read_bounded(fmt::format("{}/{}/cgroup", proc_, sample.pid)));
    const std::scoped_lock lock(mutex_);
    by_process_.emplace(key, std::move(labels));
}

ProcessLabels ProcessLabelReader::find(std::uint32_t pid,
                                       std::uint64_t process_start_boot_ns) const {
    const std::scoped_lock lock(mutex_);
    const auto found = by_process_.find({pid, process_start_boot_ns});
    return found == by_process_.end() ? ProcessLabels{} : found->second;
}

}  // namespace bobbin::sampler
