// SPDX-License-Identifier: Apache-2.0
#include "cli/system_facts.h"

#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/parse_number.h"

namespace bobbin::cli {
namespace {

namespace fs = std::filesystem;

// These files are the kernel's own and small; the bound is for a root that is not the kernel's.
constexpr std::size_t kMaxFileBytes = 64 * 1024;

std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(kMaxFileBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Whatever stands behind it.
template <class T>
std::optional<T> first_number(std::string_view text, int base = 10) {
    return take_number<T>(text, base);
}

template <class T>
std::optional<T> read_number(const fs::path& path) {
    return first_number<T>(first_line(read_text(path)));
}

// The words after `key` in a file of lines "Key:  word word".
std::string words_after(const std::string& text, std::string_view key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(key)) continue;
        const std::size_t begin = line.find_first_not_of(" \t", key.size());
        return begin == std::string::npos ? std::string() : line.substr(begin);
    }
    return {};
}

// "Uid:  real effective saved filesystem".
std::uint32_t effective_uid_of(const std::string& status) {
    std::istringstream words(words_after(status, "Uid:"));
    std::uint32_t real = 0;
    std::uint32_t effective = 0;
    words >> real >> effective;
    return effective;
}

// "Max locked memory   8388608   8388608   bytes": the soft limit comes first.
std::optional<std::uint64_t> locked_memory_limit_of(const std::string& limits) {
    return first_number<std::uint64_t>(words_after(limits, "Max locked memory"));
}

// The initial user namespace maps every id to itself: "0 0 4294967295".
bool maps_every_user(const std::string& uid_map) {
    std::istringstream words(uid_map);
    std::uint64_t inside = 0;
    std::uint64_t outside = 0;
    std::uint64_t count = 0;
    words >> inside >> outside >> count;
    return uid_map.empty() || (inside == 0 && outside == 0 && count == 4294967295);
}

// "none [integrity] confidentiality": the one in brackets holds.
std::string lockdown_of(const std::string& text) {
    const std::size_t begin = text.find('[');
    const std::size_t end = text.find(']', begin == std::string::npos ? 0 : begin);
    if (begin == std::string::npos || end == std::string::npos) return {};
    return text.substr(begin + 1, end - begin - 1);
}

// "0-3,8" -> 5.
std::uint32_t count_cpus(const std::string& ranges) {
    std::istringstream list(ranges);
    std::uint32_t count = 0;
    for (std::string range; std::getline(list, range, ',');) {
        const auto first = first_number<std::uint32_t>(range);
        const std::size_t dash = range.find('-');
        const auto last =
            dash == std::string::npos
                ? first
                : first_number<std::uint32_t>(std::string_view(range).substr(dash + 1));
        if (first && last && *last >= *first) count += *last - *first + 1;
    }
    return count;
}

bool is_there(const fs::path& path) {
    std::error_code unreadable;
    return fs::exists(path, unreadable);
}

// What Docker, Podman and systemd-nspawn (and through it machinectl, mkosi) leave for programs.
bool is_container(const fs::path& root) {
    return is_there(root / ".dockerenv") || is_there(root / "run/.containerenv") ||
           is_there(root / "run/systemd/container");
}

}  // namespace

bool SystemFacts::may_open_perf_events() const {
    if (has_capability(CAP_SYS_ADMIN)) return true;
    const int paranoid = perf_event_paranoid.value_or(2);
    if (paranoid > 2) return false;
    return has_capability(CAP_PERFMON) || paranoid <= 0;
}

bool SystemFacts::may_load_bpf() const {
    if (in_user_namespace) return false;
    return has_capability(CAP_SYS_ADMIN) ||
           (has_capability(CAP_BPF) && has_capability(CAP_PERFMON));
}

bool SystemFacts::kernel_is_at_least(unsigned major, unsigned minor) const {
    const auto found_major = first_number<unsigned>(kernel_release);
    const std::size_t dot = kernel_release.find('.');
    if (!found_major || dot == std::string::npos) return false;
    const auto found_minor =
        first_number<unsigned>(std::string_view(kernel_release).substr(dot + 1));
    return *found_major > major || (*found_major == major && found_minor.value_or(0) >= minor);
}

SystemFacts read_system_facts(const fs::path& root) {
    const fs::path proc = root / "proc";
    const fs::path kernel = proc / "sys/kernel";
    const std::string status = read_text(proc / "self/status");
    SystemFacts facts;
    facts.effective_uid = effective_uid_of(status);
    facts.effective_capabilities =
        first_number<std::uint64_t>(words_after(status, "CapEff:"), 16).value_or(0);
    facts.in_user_namespace = !maps_every_user(read_text(proc / "self/uid_map"));
    facts.in_container = is_container(root);
    facts.kernel_release = first_line(read_text(kernel / "osrelease"));
    facts.lockdown = lockdown_of(read_text(root / "sys/kernel/security/lockdown"));
    facts.has_btf = is_there(root / "sys/kernel/btf/vmlinux");
    facts.has_kallsyms = is_there(proc / "kallsyms");
    facts.has_tracefs = is_there(root / "sys/kernel/tracing/events") ||
                        is_there(root / "sys/kernel/debug/tracing/events");
    facts.online_cpu_count =
        count_cpus(first_line(read_text(root / "sys/devices/system/cpu/online")));
    facts.perf_event_paranoid = read_number<int>(kernel / "perf_event_paranoid");
    facts.perf_event_max_sample_rate_hz =
        read_number<std::uint32_t>(kernel / "perf_event_max_sample_rate");
    facts.unprivileged_bpf_disabled = read_number<int>(kernel / "unprivileged_bpf_disabled");
    facts.bpf_jit_enable = read_number<int>(proc / "sys/net/core/bpf_jit_enable");
    facts.kptr_restrict = read_number<int>(kernel / "kptr_restrict");
    facts.locked_memory_limit_bytes = locked_memory_limit_of(read_text(proc / "self/limits"));
    return facts;
}

}  // namespace bobbin::cli
