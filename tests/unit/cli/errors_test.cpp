// SPDX-License-Identifier: Apache-2.0
#include "cli/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "cli/exit_status.h"

namespace bobbin::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kInvocation{"./bobbin", "record", "-d", "10",
                                           "--",       "sh",     "-c", "exit 3"};

constexpr std::uint64_t bit(unsigned capability) { return std::uint64_t{1} << capability; }

SystemFacts debian_user() {
    SystemFacts facts;
    facts.effective_uid = 1000;
    facts.kernel_release = "6.1.0-56-amd64";
    facts.has_btf = true;
    facts.perf_event_paranoid = 3;
    facts.perf_event_max_sample_rate_hz = 25000;
    return facts;
}

SystemFacts root_of_host() {
    SystemFacts facts = debian_user();
    facts.effective_uid = 0;
    facts.effective_capabilities = bit(CAP_SYS_ADMIN) | bit(CAP_BPF) | bit(CAP_PERFMON);
    return facts;
}

Error system_error(int code, const char* attempted) {
    return Error(attempted, std::error_code(code, std::generic_category()));
}

TEST(DescribeUserError, HasThreeLines) {
    EXPECT_EQ(describe(UserError{"what", "why", "command", 1}),
              "bobbin: what\nwhy\nrun:  command\n");
    EXPECT_EQ(describe(UserError{"what", "", "", 1}), "bobbin: what\n");
}

TEST(DescribeUserError, EscapesForeignControlCharacters) {
    EXPECT_EQ(describe(UserError{"open /tmp/\x1b[2J", "", "", 1}), "bobbin: open /tmp/\\x1b[2J\n");
}

TEST(ExplainNotRoot, GivesTheUsersOwnCommandToPaste) {
    const UserError error = explain_not_root(debian_user(), kInvocation);
    EXPECT_EQ(error.exit_status, 77);
    EXPECT_EQ(error.run, "sudo ./bobbin record -d 10 -- sh -c 'exit 3'");
    EXPECT_EQ(error.why,
              "this kernel lets only root sample other processes (kernel.perf_event_paranoid is "
              "3)");
}

TEST(ExplainNotRoot, NamesTheMissingCapabilities) {
    SystemFacts facts = debian_user();
    facts.perf_event_paranoid = 2;
    EXPECT_THAT(explain_not_root(facts, kInvocation).why, HasSubstr("CAP_BPF and CAP_PERFMON"));
    facts.effective_capabilities = bit(CAP_PERFMON);
    const UserError error = explain_not_root(facts, kInvocation);
    EXPECT_EQ(error.why, "kernel.perf_event_paranoid is 2, and this process lacks CAP_BPF");
    EXPECT_THAT(error.run, HasSubstr("sudo ./bobbin record"));
}

// Debian's patch: CAP_PERFMON is checked only up to level 2.
TEST(ExplainNotRoot, NamesTheDebianLevelWhereCapabilitiesAreNotEnough) {
    SystemFacts facts = debian_user();
    facts.effective_capabilities = bit(CAP_BPF) | bit(CAP_PERFMON);
    const UserError error = explain_not_root(facts, kInvocation);
    EXPECT_THAT(error.why, HasSubstr("kernel.perf_event_paranoid is 3"));
    EXPECT_THAT(error.why, HasSubstr("CAP_SYS_ADMIN"));
    EXPECT_EQ(error.run, "sudo sysctl kernel.perf_event_paranoid=2");
    EXPECT_EQ(error.exit_status, 77);
}

TEST(ExplainNotRoot, TellsRootOfAContainerHowToStartIt) {
    SystemFacts facts = debian_user();
    facts.effective_uid = 0;
    facts.in_container = true;
    const UserError error = explain_not_root(facts, kInvocation);
    EXPECT_THAT(error.why, HasSubstr("container"));
    EXPECT_THAT(error.run, HasSubstr("--pid=host"));
    facts.in_user_namespace = true;
    EXPECT_THAT(explain_not_root(facts, kInvocation).why, HasSubstr("user namespace"));
}

TEST(ExplainSamplingFailure, SaysWhyPerfEventOpenWasRefused) {
    for (const int code : {EPERM, EACCES}) {
        const UserError error = explain_sampling_failure(system_error(code, "perf_event_open"),
                                                         debian_user(), kInvocation);
        EXPECT_THAT(error.what, HasSubstr("cannot sample: perf_event_open: "));
        EXPECT_THAT(error.why, HasSubstr("kernel.perf_event_paranoid is 3"));
        EXPECT_EQ(error.exit_status, 77);
    }
}

// All rights, and still refused: only a policy can be the reason, not the sysctl.
TEST(ExplainSamplingFailure, SuspectsAPolicyWhenTheRightsAreThere) {
    SystemFacts facts = root_of_host();
    UserError error =
        explain_sampling_failure(system_error(EACCES, "perf_event_open"), facts, kInvocation);
    EXPECT_THAT(error.why, HasSubstr("security module"));
    EXPECT_THAT(error.why, Not(HasSubstr("paranoid")));
    facts.in_container = true;
    error = explain_sampling_failure(system_error(EPERM, "perf_event_open"), facts, kInvocation);
    EXPECT_THAT(error.why, HasSubstr("seccomp"));
    EXPECT_EQ(error.exit_status, 77);
}

TEST(ExplainSamplingFailure, KnowsTheOtherReasons) {
    const auto why = [](int code) {
        return explain_sampling_failure(system_error(code, "perf_event_open"), root_of_host(),
                                        kInvocation);
    };
    EXPECT_THAT(why(ENOSYS).why, HasSubstr("CONFIG_PERF_EVENTS"));
    EXPECT_THAT(why(ENOSYS).run, HasSubstr("/boot/config-6.1.0-56-amd64"));
    EXPECT_THAT(why(ENOENT).why, HasSubstr("no such event"));
    EXPECT_THAT(why(EMFILE).run, HasSubstr("ulimit -n"));
    EXPECT_THAT(why(EINVAL).why, HasSubstr("25000"));
    EXPECT_THAT(why(EIO).run, HasSubstr("bobbin doctor"));
    for (const int code : {ENOSYS, ENOENT, EMFILE, EINVAL, EIO}) {
        EXPECT_EQ(why(code).exit_status, 1) << code;
    }
}

TEST(ExplainLoadFailure, NamesMissingBtfWhateverTheCode) {
    SystemFacts facts = root_of_host();
    facts.has_btf = false;
    const UserError error =
        explain_load_failure(system_error(ESRCH, "load profiler"), facts, kInvocation);
    EXPECT_THAT(error.what, HasSubstr("cannot load the BPF programs: load profiler"));
    EXPECT_THAT(error.why, HasSubstr("CONFIG_DEBUG_INFO_BTF"));
    EXPECT_EQ(error.exit_status, 1);
}

TEST(ExplainLoadFailure, NamesLockdown) {
    SystemFacts facts = root_of_host();
    facts.lockdown = "confidentiality";
    for (const int code : {EPERM, EINVAL}) {
        const UserError error =
            explain_load_failure(system_error(code, "load"), facts, kInvocation);
        EXPECT_THAT(error.why, HasSubstr("lockdown")) << code;
    }
    facts.lockdown = "integrity";
    EXPECT_THAT(explain_load_failure(system_error(EINVAL, "load"), facts, kInvocation).why,
                Not(HasSubstr("lockdown")));
}

TEST(ExplainLoadFailure, TellsMissingRightsFromTheVerifier) {
    const UserError no_rights =
        explain_load_failure(system_error(EPERM, "load"), debian_user(), kInvocation);
    EXPECT_EQ(no_rights.exit_status, 77);
    EXPECT_THAT(no_rights.run, HasSubstr("sudo ./bobbin record"));
    for (const int code : {EACCES, EINVAL, E2BIG}) {
        const UserError verifier =
            explain_load_failure(system_error(code, "load"), root_of_host(), kInvocation);
        EXPECT_THAT(verifier.why, HasSubstr("verifier of kernel 6.1.0-56-amd64")) << code;
        EXPECT_EQ(verifier.exit_status, 1) << code;
    }
}

// Linux 5.11 moved map memory from RLIMIT_MEMLOCK to the memory cgroup.
TEST(ExplainLoadFailure, NamesLockedMemoryOnlyOnOldKernels) {
    SystemFacts facts = root_of_host();
    facts.locked_memory_limit_bytes = 65536;
    facts.kernel_release = "5.10.0-46-amd64";
    const UserError error =
        explain_load_failure(system_error(EPERM, "create map"), facts, kInvocation);
    EXPECT_THAT(error.why, HasSubstr("65.5 kB"));
    EXPECT_THAT(error.run, HasSubstr("ulimit -l unlimited"));
    facts.kernel_release = "6.1.0-56-amd64";
    EXPECT_THAT(explain_load_failure(system_error(EPERM, "create map"), facts, kInvocation).why,
                Not(HasSubstr("locked memory")));
}

TEST(ExplainLoadFailure, KnowsMemoryAndMissingBpf) {
    EXPECT_THAT(explain_load_failure(system_error(ENOMEM, "x"), root_of_host(), kInvocation).why,
                HasSubstr("memory"));
    EXPECT_THAT(explain_load_failure(system_error(ENOSYS, "x"), root_of_host(), kInvocation).why,
                HasSubstr("CONFIG_BPF_SYSCALL"));
}

TEST(ExplainCommandFailure, GivesTheExitStatusOfEnv) {
    const UserError missing = explain_command_failure(system_error(ENOENT, "execute it"), "nope");
    EXPECT_EQ(missing.exit_status, 127);
    EXPECT_THAT(missing.what, HasSubstr("cannot run nope: "));
    EXPECT_THAT(missing.why, HasSubstr("PATH"));
    for (const int code : {EACCES, ENOEXEC, EISDIR, E2BIG}) {
        EXPECT_EQ(explain_command_failure(system_error(code, "execute it"), "/x").exit_status, 126)
            << code;
    }
}

TEST(ExplainFileFailure, TellsAMissingFileFromABadOne) {
    EXPECT_EQ(explain_file_failure(system_error(ENOENT, "open x"), "x").why,
              "there is no such file");
    EXPECT_EQ(explain_file_failure(system_error(EACCES, "open x"), "x").run, "ls -l x");
    const UserError bad = explain_file_failure(Error("read x: no ELF magic"), "my file");
    EXPECT_THAT(bad.why, HasSubstr("ELF"));
    EXPECT_EQ(bad.run, "file 'my file'");
    EXPECT_EQ(bad.exit_status, 1);
}

}  // namespace
}  // namespace bobbin::cli
