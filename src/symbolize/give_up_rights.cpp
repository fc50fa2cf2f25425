// SPDX-License-Identifier: Apache-2.0
#include "symbolize/give_up_rights.h"

#include <grp.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>

namespace bobbin::symbolize {
namespace {

// Debian's nobody and nogroup; also what the kernel shows for ids that a user namespace lacks.
constexpr unsigned kNobody = 65534;
// The object, its debug files and one .dwo at a time, with room to spare.
constexpr rlim_t kMaxDescriptors = 64;

// newfstatat is what fstat() calls (glibc 2.33), and lets see which files there are for nobody.
// getrandom is malloc's, for the tags of freed blocks (glibc 2.36). clock_gettime is a system call
// where the clock cannot be read in user space. sigaltstack and gettid are AddressSanitizer's.
constexpr std::array kAllowedCalls = {
    SCMP_SYS(pread64),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(close),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(getrandom),
    SCMP_SYS(exit_group),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(gettid),
#ifdef __SANITIZE_ADDRESS__
    // UBSan looks whether an object may be read by writing it to a pipe.
    SCMP_SYS(pipe2),
    SCMP_SYS(read),
    SCMP_SYS(write),
#endif
};

std::uint64_t mapped_bytes() {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// They hold where the filter cannot be had, too.
void limit_resources(std::uint64_t memory_bytes) {
    const auto limit = [](int resource, rlim_t value) {
        const rlimit both{.rlim_cur = value, .rlim_max = value};
        ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
    };
    limit(RLIMIT_AS, mapped_bytes() + memory_bytes);
    limit(RLIMIT_NOFILE, kMaxDescriptors);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_CORE, 0);
}

// A user namespace may not know nobody: it then stays who it is, without capabilities.
void become_nobody() {
    if (::geteuid() != 0) return;
    (void)::setgroups(0, nullptr);
    if (::setresgid(kNobody, kNobody, kNobody) != 0) return;
    (void)::setresuid(kNobody, kNobody, kNobody);
}

Result<> drop_capabilities() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
    if (::syscall(SYS_capset, &header, none.data()) != 0) return fail_with(errno, "capset");
    return {};
}

Result<> filter_system_calls() {
    const std::unique_ptr<void, decltype(&::seccomp_release)> filter(
        ::seccomp_init(SCMP_ACT_ERRNO(EPERM)), &::seccomp_release);
    if (!filter) return fail("seccomp_init: out of memory");
    int error = 0;
    for (const int call : kAllowedCalls) {
        if (error == 0) error = ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
    }
    // Memory, but none of a file and none to execute.
    if (error == 0) {
        error = ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
                                   SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                                   SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));
    }
    if (error == 0) error = ::seccomp_load(filter.get());
    if (error != 0) return fail_with(error, "seccomp");
    return {};
}

}  // namespace

Result<> give_up_rights(std::uint64_t memory_bytes) {
    limit_resources(memory_bytes);
    become_nobody();
    Result<> dropped = drop_capabilities();
    // Behind the change of the user, which resets both (credentials(7), prctl(2)).
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail_with(errno, "no_new_privs");
    BOBBIN_CHECK(filter_system_calls());
    return dropped;
}

}  // namespace bobbin::symbolize
