// SPDX-License-Identifier: Apache-2.0
#include "sampler/cgroup_labels.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace bobbin::sampler {
namespace {

constexpr std::size_t kContainerIdDigits = 64;
constexpr std::size_t kShownContainerIdDigits = 12;
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string_view next_piece(std::string_view& rest, char separator) {
    const auto end = rest.find(separator);
    const std::string_view piece = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    return piece;
}

// "12:cpu,cpuacct:/path"
struct Membership {
    std::string_view path;
    bool says_units = false;  // of the unified hierarchy ("0::") or systemd's named one
};

Membership parse_membership(std::string_view line) {
    const std::string_view id = next_piece(line, ':');
    const std::string_view controllers = next_piece(line, ':');
    const bool unified = id == "0" && controllers.empty();
    return {.path = line, .says_units = unified || controllers == "name=systemd"};
}

bool is_unit(std::string_view component) {
    return component.ends_with(".service") || component.ends_with(".scope");
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

bool is_container_id(std::string_view text) {
    return text.size() == kContainerIdDigits &&
           text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

// With the systemd driver docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope, crio-ID.scope,
// nerdctl-ID.scope; with the cgroupfs driver the bare ID, libpod-ID or crio-ID. conmon, which
// watches a container from outside, has libpod-conmon-ID and crio-conmon-ID; a pod is a slice.
std::string_view container_id(std::string_view component) {
    take_suffix(component, ".scope");
    const auto dash = component.rfind('-');
    if (dash == std::string_view::npos) return is_container_id(component) ? component : "";
    const std::string_view engine = component.substr(0, dash);
    const std::string_view id = component.substr(dash + 1);
    return is_container_id(id) && !engine.ends_with("conmon") ? id : "";
}

// systemd writes what a unit's name may not hold as \xNN: systemd.unit(5).
std::string unescape_unit(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        unsigned character = 0;
        const bool is_escape =
            text.size() >= 4 && text.starts_with("\\x") &&
            std::from_chars(text.data() + 2, text.data() + 4, character, 16).ptr == text.data() + 4;
        plain += is_escape ? static_cast<char>(character) : text.front();
        text.remove_prefix(is_escape ? 4 : 1);
    }
    return plain;
}

// systemd-nspawn@web.service (its own processes are below "supervisor"), machine-web.scope.
std::string machine_name(std::string_view component, std::string_view below) {
    if (take_prefix(component, "systemd-nspawn@") && take_suffix(component, ".service")) {
        return next_piece(below, '/') == "supervisor" ? "" : unescape_unit(component);
    }
    if (take_prefix(component, "machine-") && take_suffix(component, ".scope")) {
        return next_piece(below, '/') == "supervisor" ? "" : unescape_unit(component);
    }
    return {};
}

// lxc.payload.web since LXC 4, lxc.payload/web in 3.1, lxc/web before; lxc.monitor is outside.
std::string_view lxc_name(std::string_view component, std::string_view below) {
    if (component == "lxc" || component == "lxc.payload") return next_piece(below, '/');
    return take_prefix(component, "lxc.payload.") ? component : "";
}

}  // namespace

std::string container_of(std::string_view path) {
    std::string container;
    while (!path.empty()) {
        const std::string_view component = next_piece(path, '/');
        if (const auto id = container_id(component); !id.empty()) container = id;
        if (const auto name = lxc_name(component, path); !name.empty()) container = name;
        if (auto name = machine_name(component, path); !name.empty()) container = std::move(name);
    }
    return container;
}

ProcessLabels describe_cgroup(std::string_view path) {
    // The kernel says so of one that was removed while processes were in it.
    take_suffix(path, " (deleted)");
    ProcessLabels labels{.cgroup = std::string(path), .unit = {}, .container = container_of(path)};
    if (is_container_id(labels.container)) labels.container.resize(kShownContainerIdDigits);
    while (!path.empty()) {
        const std::string_view component = next_piece(path, '/');
        if (is_unit(component)) labels.unit = component;
    }
    return labels;
}

ProcessLabels parse_cgroup(std::string_view text) {
    std::string_view longest;
    std::string_view longest_of_controllers;
    while (!text.empty()) {
        const Membership in = parse_membership(next_piece(text, '\n'));
        std::string_view& so_far = in.says_units ? longest : longest_of_controllers;
        if (in.path.size() > so_far.size()) so_far = in.path;
    }
    // Without systemd an engine puts containers into hierarchies of version 1 alone.
    const bool says_more = longest.size() <= 1 && longest_of_controllers.size() > 1;
    return describe_cgroup(says_more ? longest_of_controllers : longest);
}

}  // namespace bobbin::sampler
