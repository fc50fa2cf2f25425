// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <fmt/core.h>
#include <langinfo.h>
#include <locale.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/standard_output.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

using Need = Check::Need;

Check check_rights(const SystemFacts& facts) {
    Check check{"rights", facts.may_record(), Need::kRights, {}, {}};
    if (facts.has_capability(CAP_SYS_ADMIN)) {
        check.found = "CAP_SYS_ADMIN";
    } else {
        check.found =
            fmt::format("{} CAP_BPF, {} CAP_PERFMON", facts.has_capability(CAP_BPF) ? "has" : "no",
                        facts.has_capability(CAP_PERFMON) ? "has" : "no");
    }
    if (facts.in_user_namespace) check.found += ", in a user namespace";
    if (facts.in_container) check.found += ", in a container";
    const bool is_root = facts.effective_uid == 0;
    check.fix = is_root ? "start the container with --privileged --pid=host" : "sudo bobbin doctor";
    if (facts.in_user_namespace) check.fix = "run bobbin on the host";
    return check;
}

Check check_paranoid(const SystemFacts& facts) {
    const int paranoid = facts.perf_event_paranoid.value_or(2);
    Check check{"perf events of other processes",
                facts.may_open_perf_events(),
                Need::kRights,
                fmt::format("kernel.perf_event_paranoid is {}", paranoid),
                {}};
    if (!facts.perf_event_paranoid) check.found = "kernel.perf_event_paranoid is not readable";
    const bool would_do = facts.has_capability(CAP_PERFMON);
    check.fix = would_do ? "sudo sysctl kernel.perf_event_paranoid=2" : "sudo bobbin doctor";
    if (would_do && paranoid > 2) check.found += ": CAP_PERFMON is not enough";
    return check;
}

Check check_cpu_clock(const KernelFeatures& features) {
    const int code = features.cpu_clock_errno;
    const bool is_refused = code == EPERM || code == EACCES;
    Check check{"cpu-clock event", code == 0, is_refused ? Need::kRights : Need::kRequired,
                code == 0 ? "opens" : std::strerror(code), "needs CONFIG_PERF_EVENTS"};
    if (is_refused) check.fix = "see the lines above; in a container also its seccomp profile";
    return check;
}

Check check_sample_rate(const SystemFacts& facts) {
    const std::uint32_t wanted_hz = config::RecordConfig{}.frequency_hz;
    const std::uint32_t limit_hz =
        facts.perf_event_max_sample_rate_hz.value_or(config::RecordConfig::kMaxFrequencyHz);
    return {"sample rate", limit_hz >= wanted_hz, Need::kRequired,
            fmt::format("kernel.perf_event_max_sample_rate is {}", limit_hz),
            "sudo sysctl kernel.perf_event_max_sample_rate=100000"};
}

Check check_feature(std::string name, Support support, Need need, std::string fix) {
    Check check{std::move(name), support == Support::kYes, need, "works", std::move(fix)};
    if (support == Support::kNo) check.found = "this kernel has it not";
    if (support != Support::kNotAllowed) return check;
    check.found = "not allowed to find out";
    check.fix = "sudo bobbin doctor";
    if (need == Need::kRequired) check.need = Need::kRights;
    return check;
}

Check check_jit(const SystemFacts& facts) {
    // The file is root's; where it is missing, as in a network namespace, JIT is as the kernel was
    // built, and Debian builds it on.
    Check check{"BPF JIT", facts.bpf_jit_enable.value_or(1) != 0, Need::kUseful,
                "net.core.bpf_jit_enable is not readable", "sudo sysctl net.core.bpf_jit_enable=1"};
    if (facts.bpf_jit_enable) {
        check.found = fmt::format("net.core.bpf_jit_enable is {}", *facts.bpf_jit_enable);
    }
    return check;
}

Check check_locked_memory(const SystemFacts& facts) {
    // What the largest set of maps takes; bpf_abi.h allows 256 MiB of tables.
    constexpr std::uint64_t kEnoughBytes = 512ULL << 20;
    const bool is_unlimited = !facts.locked_memory_limit_bytes;
    const bool is_charged = !facts.kernel_is_at_least(5, 11);
    Check check{"locked memory",
                !is_charged || is_unlimited || *facts.locked_memory_limit_bytes >= kEnoughBytes,
                Need::kRequired, is_unlimited ? "unlimited" : "", "ulimit -l unlimited"};
    if (!is_unlimited) check.found = "limit " + byte_size(*facts.locked_memory_limit_bytes);
    if (!is_charged) check.found += ", which BPF maps do not count against since Linux 5.11";
    return check;
}

Check check_kernel_symbols(const SystemFacts& facts) {
    const int restricted = facts.kptr_restrict.value_or(0);
    const bool has_syslog = facts.has_capability(CAP_SYSLOG);
    const bool addresses = restricted < 2 && has_syslog;
    Check check{"names of kernel functions", facts.has_kallsyms && addresses, Need::kUseful,
                fmt::format("kernel.kptr_restrict is {}, {} CAP_SYSLOG", restricted,
                            has_syslog ? "has" : "no"),
                "sudo sysctl kernel.kptr_restrict=1"};
    if (restricted < 2) check.fix = "sudo bobbin record";
    if (!facts.has_kallsyms) {
        check.found = "/proc/kallsyms is missing";
        check.fix = "a service needs ProtectKernelTunables=no; a kernel CONFIG_KALLSYMS";
    }
    return check;
}

Check check_run_first(const KernelFeatures& features) {
    const int code = features.run_first_errno;
    return {"opening before other work", code == 0, Need::kUseful,
            code == 0 ? "SCHED_FIFO" : fmt::format("SCHED_FIFO: {}", std::strerror(code)),
            "sudo bobbin record; a service needs LimitRTPRIO=1 and RestrictRealtime=no"};
}

Check check_exec_events(const KernelFeatures& features) {
    const int code = features.exec_events_errno;
    return {"files of short-lived programs", code == 0, Need::kUseful,
            code == 0 ? "held by fanotify" : fmt::format("fanotify: {}", std::strerror(code)),
            "sudo bobbin record; a service needs CAP_SYS_ADMIN"};
}

Check check_seccomp(const KernelFeatures& features) {
    const int code = features.seccomp_errno;
    return {"reading names without rights", code == 0, Need::kUseful,
            code == 0 ? "seccomp" : fmt::format("seccomp: {}", std::strerror(code)),
            "a kernel with CONFIG_SECCOMP_FILTER; a container that allows seccomp"};
}

std::string_view need_text(Need need) {
    switch (need) {
        case Need::kRequired:
            return "required";
        case Need::kRights:
            return "rights";
        case Need::kUseful:
            return "useful";
    }
    return "";
}

bool stops_recording(const Check& check) { return !check.ok && check.need != Need::kUseful; }

bool terminal_is_utf8() {
    const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
    if (locale == nullptr) return false;
    const bool utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
    ::freelocale(locale);
    return utf8;
}

}  // namespace

std::vector<Check> examine(const SystemFacts& facts, const KernelFeatures& features) {
    std::vector<Check> checks;
    checks.push_back(
        {"kernel", facts.kernel_is_at_least(5, 10), Need::kRequired,
         fmt::format("{}, {} CPUs online", facts.kernel_release, facts.online_cpu_count),
         "bobbin needs Linux 5.10 or later"});
    checks.push_back(check_rights(facts));
    checks.push_back(check_paranoid(facts));
    checks.push_back(check_cpu_clock(features));
    checks.push_back(check_sample_rate(facts));
    checks.push_back({"kernel type information", facts.has_btf, Need::kRequired,
                      facts.has_btf ? "/sys/kernel/btf/vmlinux" : "/sys/kernel/btf/vmlinux missing",
                      "a kernel built with CONFIG_DEBUG_INFO_BTF: Debian's are"});
    checks.push_back({"kernel lockdown", facts.lockdown != "confidentiality", Need::kRequired,
                      facts.lockdown.empty() ? "none" : facts.lockdown,
                      "boot with lockdown=integrity"});
    checks.push_back(check_feature("BPF perf_event programs", features.perf_event_programs,
                                   Need::kRequired, "a kernel with CONFIG_BPF_EVENTS"));
    checks.push_back(check_feature("BPF ring buffer", features.ring_buffers, Need::kRequired,
                                   "bobbin needs Linux 5.10 or later"));
    checks.push_back(check_feature("BPF maps of maps", features.maps_of_maps, Need::kRequired,
                                   "bobbin needs Linux 5.10 or later"));
    checks.push_back(check_feature("bpf_loop", features.bpf_loop, Need::kUseful,
                                   "Linux 5.17 or later walks deep stacks at less cost"));
    checks.push_back(check_jit(facts));
    checks.push_back(check_locked_memory(facts));
    checks.push_back(check_kernel_symbols(facts));
    checks.push_back(check_run_first(features));
    checks.push_back(check_exec_events(features));
    checks.push_back(check_seccomp(features));
    return checks;
}

int exit_status_of(std::span<const Check> checks) {
    const auto fails_for = [&](Need need) {
        return std::ranges::any_of(
            checks, [&](const Check& check) { return !check.ok && check.need == need; });
    };
    if (fails_for(Need::kRequired)) return kExitFailure;
    return fails_for(Need::kRights) ? kExitNoPrivilege : kExitOk;
}

namespace {

std::string mark_of(bool ok, ReportStyle style) {
    const std::string_view good = style.utf8 ? "✓ " : "ok  ";
    const std::string_view bad = style.utf8 ? "✗ " : "no  ";
    const std::string_view mark = ok ? good : bad;
    if (!style.colours) return std::string(mark);
    return fmt::format("{}{}\x1b[0m", ok ? "\x1b[32m" : "\x1b[31m", mark);
}

}  // namespace

std::string describe(std::span<const Check> checks, ReportStyle style) {
    std::string text;
    std::size_t widest = 0;
    for (const Check& check : checks) widest = std::max(widest, check.name.size());
    for (const Check& check : checks) {
        text += mark_of(check.ok, style);
        text += fmt::format("{:<{}}  {}\n", check.name, widest, printable(check.found));
        if (check.ok) continue;
        text += fmt::format("{:<{}}{}{}\n", "", style.utf8 ? 4 : 6,
                            check.need == Need::kUseful ? "(optional) " : "", check.fix);
    }
    const bool works = std::ranges::none_of(checks, stops_recording);
    return text + (works ? "bobbin record works here\n" : "bobbin record does not work here yet\n");
}

std::string to_json(std::span<const Check> checks) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Check& check : checks) {
        nlohmann::ordered_json entry{{"name", check.name},
                                     {"ok", check.ok},
                                     {"need", need_text(check.need)},
                                     {"found", check.found}};
        if (!check.ok) entry["fix"] = check.fix;
        list.push_back(std::move(entry));
    }
    const nlohmann::ordered_json report{
        {"record_works", std::ranges::none_of(checks, stops_recording)},
        {"checks", std::move(list)}};
    return report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int run_doctor(const DoctorCommand& command) {
    const SystemFacts facts = read_system_facts();
    const std::vector<Check> checks = examine(facts, probe_kernel_features(facts.may_load_bpf()));
    const ReportStyle style{terminal_is_utf8(), terminal_of_standard_output().has_colours};
    const int written = answer(command.json ? to_json(checks) : describe(checks, style));
    return written == kExitOk ? exit_status_of(checks) : written;
}

}  // namespace bobbin::cli
