// SPDX-License-Identifier: Apache-2.0
#include "sampler/cpu_hotplug.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "base/parse_number.h"

namespace bobbin::sampler {
namespace {

constexpr int kMaxCpus = 8192;  // NR_CPUS of distribution kernels

std::optional<int> parse_cpu(std::string_view text) {
    const auto cpu = parse_number<int>(text);
    return cpu && *cpu >= 0 && *cpu < kMaxCpus ? cpu : std::nullopt;
}

}  // namespace

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    while (text.ends_with('\n')) text.remove_suffix(1);
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::string_view range = text.substr(0, comma);
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
        const auto dash = range.find('-');
        const auto first = parse_cpu(range.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : parse_cpu(range.substr(dash + 1));
        if (!first || !last) return fail("bad CPU list '{}'", range);
        for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    }
    if (cpus.empty()) return fail("empty CPU list");
    return cpus;
}

Result<std::vector<int>> online_cpus() {
    std::ifstream file("/sys/devices/system/cpu/online");
    std::string text;
    if (!std::getline(file, text)) return fail("read /sys/devices/system/cpu/online");
    return parse_cpu_list(text);
}

CpuChanges changes_between(std::span<const int> watched, std::span<const int> online,
                           std::span<const int> replugged) {
    CpuChanges changes;
    const auto was_away = [&](int cpu) { return std::ranges::binary_search(replugged, cpu); };
    for (const int cpu : watched) {
        if (was_away(cpu) || !std::ranges::binary_search(online, cpu)) {
            changes.to_close.push_back(cpu);
        }
    }
    for (const int cpu : online) {
        if (was_away(cpu) || !std::ranges::binary_search(watched, cpu)) {
            changes.to_open.push_back(cpu);
        }
    }
    return changes;
}

std::optional<int> parse_cpu_event(std::string_view message) {
    constexpr std::string_view kCpuDevice = "/devices/system/cpu/cpu";
    const std::string_view head = message.substr(0, message.find('\0'));
    const auto at = head.find('@');
    const std::string_view action = head.substr(0, at);
    if (at == std::string_view::npos || (action != "online" && action != "offline")) return {};
    const std::string_view device = head.substr(at + 1);
    if (!device.starts_with(kCpuDevice)) return std::nullopt;
    return parse_cpu(device.substr(kCpuDevice.size()));
}

CpuWatch::CpuWatch()
    : messages_(
          ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT)) {
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = 1;  // the kernel's own; udev's is 2
    if (!messages_.is_open()) return;
    if (::bind(messages_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
        0) {
        messages_.reset();
    }
}

std::vector<int> CpuWatch::take_replugged(std::span<const int> watched) {
    std::vector<int> replugged;
    std::array<char, 4096> message{};  // UEVENT_BUFFER_SIZE of <linux/kobject.h> is 2048
    while (messages_.is_open()) {
        const ssize_t length = ::recv(messages_.get(), message.data(), message.size(), 0);
        if (length < 0 && errno == ENOBUFS) replugged.assign(watched.begin(), watched.end());
        if (length < 0 && (errno == ENOBUFS || errno == EINTR)) continue;
        if (length <= 0) break;
        const auto cpu = parse_cpu_event({message.data(), static_cast<std::size_t>(length)});
        if (cpu) replugged.push_back(*cpu);
    }
    std::ranges::sort(replugged);
    return replugged;
}

}  // namespace bobbin::sampler
