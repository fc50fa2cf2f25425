// SPDX-License-Identifier: Apache-2.0
#include "cli/errors.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "cli/exit_status.h"
#include "cli/terminal_text.h"

namespace bobbin::cli {
namespace {

// The option that widens what a container may do, in docker's and podman's spelling.
constexpr const char* kContainerCommand =
    "docker run --privileged --pid=host IMAGE bobbin record   # or: podman run ...";

// sudo looks the program up in its own path: a program of ours that was named by a path keeps it.
std::string with_sudo(std::span<const std::string> invocation) {
    if (invocation.empty()) return "sudo bobbin record";
    return "sudo " + shell_quote(invocation);
}

bool is_root_in_name_only(const SystemFacts& facts) { return facts.effective_uid == 0; }

bool is_permission(const Error& error) {
    const int code = error.code().value();
    return code == EPERM || code == EACCES;
}

std::string paranoid_text(const SystemFacts& facts) {
    return fmt::format("kernel.perf_event_paranoid is {}", facts.perf_event_paranoid.value_or(2));
}

bool has_strict_paranoid(const SystemFacts& facts) {
    return facts.perf_event_paranoid.value_or(2) > 2;
}

// Which of the capabilities that BPF sampling needs are missing: "CAP_BPF and CAP_PERFMON".
std::string missing_capabilities(const SystemFacts& facts) {
    const bool lacks_bpf = !facts.has_capability(CAP_BPF);
    const bool lacks_perfmon = !facts.has_capability(CAP_PERFMON);
    if (lacks_bpf && lacks_perfmon) return "CAP_BPF and CAP_PERFMON";
    return lacks_bpf ? "CAP_BPF" : "CAP_PERFMON";
}

bool has_both_capabilities(const SystemFacts& facts) {
    return facts.has_capability(CAP_BPF) && facts.has_capability(CAP_PERFMON);
}

// Why rights are missing, best reason first, and what to type. Nothing when none is missing.
struct Reason {
    std::string why;
    std::string run;
};
Reason missing_rights(const SystemFacts& facts, std::span<const std::string> invocation) {
    if (facts.in_user_namespace) {
        return {"root of a user namespace (a rootless container) has no rights over BPF",
                with_sudo(invocation) + "   # on the host"};
    }
    if (facts.may_record()) return {};
    if (facts.in_container && is_root_in_name_only(facts)) {
        return {fmt::format("this container was started without {}", missing_capabilities(facts)),
                kContainerCommand};
    }
    if (has_both_capabilities(facts)) {
        return {paranoid_text(facts) +
                    " (Debian's and Ubuntu's patch): from 3 on, CAP_PERFMON is not enough and only "
                    "CAP_SYS_ADMIN may sample",
                "sudo sysctl kernel.perf_event_paranoid=2"};
    }
    std::string why = fmt::format("{}, and this process lacks {}", paranoid_text(facts),
                                  missing_capabilities(facts));
    if (has_strict_paranoid(facts)) {
        why = fmt::format(
            "this kernel lets only root sample other processes (kernel.perf_event_paranoid is {})",
            *facts.perf_event_paranoid);
    }
    return {why, with_sudo(invocation)};
}

// A refusal although the capabilities are there.
Reason refusal_by_policy(const SystemFacts& facts, const char* system_call) {
    if (facts.in_container) {
        return {fmt::format("the container's seccomp profile refuses {}", system_call),
                kContainerCommand};
    }
    return {fmt::format("a security module (SELinux, AppArmor) or a seccomp filter refuses {}",
                        system_call),
            "sudo journalctl -k -g 'avc|apparmor|audit' -n 20"};
}

UserError from(std::string what, Reason reason, int exit_status) {
    return {std::move(what), std::move(reason.why), std::move(reason.run), exit_status};
}

bool has_small_memlock_budget(const SystemFacts& facts) {
    // Since 5.11 map memory is charged to the memory cgroup instead.
    constexpr std::uint64_t kEnoughBytes = 512ULL << 20;
    return !facts.kernel_is_at_least(5, 11) && !facts.kernel_release.empty() &&
           facts.locked_memory_limit_bytes.value_or(kEnoughBytes) < kEnoughBytes;
}

Reason reason_of_load_permission(const SystemFacts& facts,
                                 std::span<const std::string> invocation) {
    Reason reason = missing_rights(facts, invocation);
    if (!reason.why.empty()) return reason;
    if (has_small_memlock_budget(facts)) {
        return {fmt::format("before Linux 5.11 BPF maps count as locked memory, and the limit is "
                            "{} (kernel {})",
                            byte_size(*facts.locked_memory_limit_bytes), facts.kernel_release),
                "sudo sh -c 'ulimit -l unlimited && exec \"$@\"' -- " + shell_quote(invocation)};
    }
    return refusal_by_policy(facts, "bpf()");
}

}  // namespace

std::string describe(const UserError& error) {
    std::string text = "bobbin: " + printable(error.what) + "\n";
    if (!error.why.empty()) text += printable(error.why) + "\n";
    if (!error.run.empty()) text += "run:  " + printable(error.run) + "\n";
    return text;
}

void print(const UserError& error) {
    // Where standard error is closed there is nobody left to tell.
    (void)std::fputs(describe(error).c_str(), stderr);
}

int fail_with_message(const UserError& error) {
    print(error);
    return error.exit_status;
}

UserError explain_not_root(const SystemFacts& facts, std::span<const std::string> invocation) {
    return from("not allowed to sample this machine", missing_rights(facts, invocation),
                kExitNoPrivilege);
}

UserError explain_sampling_failure(const Error& error, const SystemFacts& facts,
                                   std::span<const std::string> invocation) {
    std::string what = "cannot sample: " + error.message();
    if (is_permission(error)) {
        Reason reason = missing_rights(facts, invocation);
        if (reason.why.empty()) reason = refusal_by_policy(facts, "perf_event_open()");
        return from(std::move(what), std::move(reason), kExitNoPrivilege);
    }
    switch (error.code().value()) {
        case ENOSYS:
            return {what, "this kernel was built without CONFIG_PERF_EVENTS",
                    fmt::format("grep CONFIG_PERF_EVENTS /boot/config-{}", facts.kernel_release)};
        case ENOENT:
        case EOPNOTSUPP:
            return {what, "this machine has no such event", "bobbin doctor"};
        case EMFILE:
            return {what, "the limit of open files is too low: one is needed for each CPU",
                    "ulimit -n 65536"};
        case EINVAL:
            return {what,
                    fmt::format("the kernel may have lowered kernel.perf_event_max_sample_rate (it "
                                "is {} Hz) below the frequency asked for",
                                facts.perf_event_max_sample_rate_hz.value_or(0)),
                    "sudo sysctl kernel.perf_event_max_sample_rate=100000"};
        default:
            return explain_failure(Error(std::move(what)));
    }
}

UserError explain_missing_btf(const SystemFacts& facts) {
    return {fmt::format("kernel {} does not describe its own types", facts.kernel_release),
            "/sys/kernel/btf/vmlinux is missing: the kernel was built without "
            "CONFIG_DEBUG_INFO_BTF (every Debian kernel since 5.10 has it)",
            fmt::format("grep CONFIG_DEBUG_INFO_BTF /boot/config-{}", facts.kernel_release)};
}

UserError explain_load_failure(const Error& error, const SystemFacts& facts,
                               std::span<const std::string> invocation) {
    std::string what = "cannot load the BPF programs: " + error.message();
    if (!facts.has_btf) {
        UserError missing = explain_missing_btf(facts);
        missing.what = std::move(what);
        return missing;
    }
    // Refused as EPERM or, where a helper that reads kernel memory is asked for, as EINVAL.
    if (facts.lockdown == "confidentiality") {
        return {what,
                "kernel lockdown is 'confidentiality', which forbids BPF to read memory; boot with "
                "lockdown=integrity",
                "cat /sys/kernel/security/lockdown"};
    }
    const int code = error.code().value();
    if (code == ESRCH) {
        return {
            error.message(),
            "bobbin runs in a pid namespace of its own, and the process may have ended; outside "
            "of it all have the numbers that the kernel knows",
            kContainerCommand};
    }
    // EACCES is also how the verifier says no; then the rights are there.
    if (code == EPERM || (code == EACCES && !facts.may_load_bpf())) {
        return from(std::move(what), reason_of_load_permission(facts, invocation),
                    kExitNoPrivilege);
    }
    switch (code) {
        case ENOSYS:
            return {what, "this kernel was built without CONFIG_BPF_SYSCALL",
                    fmt::format("grep CONFIG_BPF_SYSCALL /boot/config-{}", facts.kernel_release)};
        case ENOMEM:
            return {
                what,
                "the kernel has no memory for the maps, or the memory cgroup's limit is reached",
                "cat /proc/self/cgroup; free -m"};
        case EACCES:
        case EINVAL:
        case E2BIG:
            return {what,
                    fmt::format("the BPF verifier of kernel {} refused a program; this is a bug of "
                                "bobbin's, please report it with the output of",
                                facts.kernel_release),
                    "bobbin doctor --json"};
        default:
            return explain_failure(Error(std::move(what)));
    }
}

UserError explain_command_failure(const Error& error, const std::string& program) {
    const bool is_missing = error.code().value() == ENOENT;
    const bool has_path = program.find('/') != std::string::npos;
    const std::string quoted = shell_quote(program);
    UserError result{"cannot run " + quoted + ": " + error.code().message(), {}, {}, 0};
    if (is_missing) {
        result.exit_status = kExitNotFound;
        // A script whose interpreter is missing gives ENOENT too.
        result.why = has_path ? "there is no such file, or its interpreter is missing"
                              : "no directory of PATH has it; sudo sets a PATH of its own";
        result.run = has_path ? "ls -l " + quoted : "command -v " + quoted;
        return result;
    }
    result.exit_status = kExitNotExecutable;
    result.why = "the file is there but the user it would run as cannot execute it";
    result.run = "ls -l " + (has_path ? quoted : "$(command -v " + quoted + ")");
    return result;
}

UserError explain_file_failure(const Error& error, const std::string& path) {
    UserError result{error.message(), {}, "file " + shell_quote(path)};
    switch (error.code().value()) {
        case ENOENT:
            result.why = "there is no such file";
            result.run = "ls -l " + shell_quote(path);
            break;
        case EACCES:
        case EPERM:
            result.why = "this user may not read it";
            result.run = "ls -l " + shell_quote(path);
            break;
        default:
            result.why = "bobbin reads 64-bit x86-64 ELF files: executables and shared objects";
    }
    return result;
}

UserError explain_failure(const Error& error) {
    return {error.message(),
            "bobbin does not know this failure; what this machine allows is said by",
            "bobbin doctor"};
}

}  // namespace bobbin::cli
