// SPDX-License-Identifier: Apache-2.0
// The service's rights where opening events takes more than these: kernel.perf_event_paranoid 3 and
// 4 of Debian and Ubuntu. A filter of system calls refuses here what such a kernel refuses.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "kernel/service_daemon.h"
#include "sampler/event_opener.h"
#include "support/record_run.h"

namespace bobbin::test {
namespace {

// As the unit has them, without CAP_SYS_ADMIN.
constexpr const char* kCapabilities =
    "-all,+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore,+syslog";

// This process and what it starts from now on.
void refuse_to_open_events() {
    std::array<sock_filter, 4> filter{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{.len = filter.size(), .filter = filter.data()};
    ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

// A /run of our own: the machine may have a real opener.
void hide_run() {
    ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount("tmpfs", "/run", "tmpfs", 0, nullptr), 0);
}

UniqueFd listen_for_everybody(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    EXPECT_EQ(::chmod(path.c_str(), 0666), 0);
    EXPECT_EQ(::listen(socket.get(), 8), 0);
    return socket;
}

// What it logs goes where wait_for_output() reads.
std::vector<std::string> daemon_as_nobody(const TemporaryDirectory& directory) {
    const std::string capabilities = kCapabilities;
    return {"setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=" + capabilities,
            "--ambient-caps=" + capabilities,
            "--bounding-set=" + capabilities,
            "sh",
            "-c",
            "exec \"$0\" daemon --config \"$1\" 2>&1",
            program_path(),
            (directory / "bobbin.toml").string()};
}

TEST(EventOpenerProgram, LetsTheServiceSampleThatMayOpenNoEvents) {
    const TemporaryDirectory directory;
    ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
    ServiceDaemon::write_config(directory, {});
    hide_run();
    const std::string waiting = std::string(sampler::kEventOpenerSocket) + ".waiting";
    const UniqueFd listening = listen_for_everybody(waiting);
    // As systemd hands the socket over, and starts the opener again that had nothing to do.
    const ChildProcess opener(
        {"bash", "-c",
         "while \"$0\" event-opener 3<&" + std::to_string(listening.get()) + "; do :; done",
         program_path()});
    refuse_to_open_events();

    constexpr int kNoPrivilege = 77;
    EXPECT_EQ(run_process(daemon_as_nobody(directory)).exit_status, kNoPrivilege);
    std::filesystem::rename(waiting, sampler::kEventOpenerSocket);
    ChildProcess daemon(daemon_as_nobody(directory));
    ASSERT_TRUE(daemon.wait_for_output("sampling at "));
    EXPECT_EQ(run_process({fixture_path("known_chain.gcc.pie"), "1"}).exit_status, 0);
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.wait().exit_status, 0);
    const auto segments = read_segments(directory);
    expect_accounts_agree(segments);
    EXPECT_GE(sample_count_of(segments), 150U);
}

}  // namespace
}  // namespace bobbin::test
