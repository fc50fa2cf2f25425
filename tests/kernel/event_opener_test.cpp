// SPDX-License-Identifier: Apache-2.0
// The opener has the right and hands the event over; who asks has none.
#include "sampler/event_opener.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "sampler/cpu_clock.h"
#include "support/temporary_directory.h"

namespace bobbin::sampler {
namespace {

constexpr uid_t kNobody = 65534;
// What the child ends with.
constexpr int kCounts = 0;
constexpr int kMayOpenItself = 10;
constexpr int kIsNotServed = 11;
constexpr int kDoesNotCount = 12;

// On CPU 0 until its clock has counted, which takes a hundredth of a second of its time.
bool counts(const UniqueFd& event) {
    cpu_set_t first_cpu;
    CPU_ZERO(&first_cpu);
    CPU_SET(0, &first_cpu);
    if (::sched_setaffinity(0, sizeof(first_cpu), &first_cpu) != 0) return false;
    if (::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) return false;
    std::uint64_t nanoseconds = 0;
    while (nanoseconds < 10'000'000) {
        if (::read(event.get(), &nanoseconds, sizeof(nanoseconds)) != sizeof(nanoseconds)) {
            return false;
        }
    }
    return true;
}

// Opened by somebody who may not is refused at every level of kernel.perf_event_paranoid but -1.
int ask_as_nobody(const std::string& socket_path) {
    if (::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0) {
        return kIsNotServed;
    }
    if (open_cpu_clock(0, 100)) return kMayOpenItself;
    const auto event = ask_event_opener(0, 100, socket_path.c_str());
    if (!event) return kIsNotServed;
    return counts(*event) ? kCounts : kDoesNotCount;
}

TEST(EventOpener, HandsOverAnEventThatCountsToWhoMayOpenNone) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "socket";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const UniqueFd listening(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(::listen(listening.get(), 8), 0);

    const pid_t asker = ::fork();
    ASSERT_GE(asker, 0);
    if (asker == 0) ::_exit(ask_as_nobody(path));
    int ended = -1;
    while (::waitpid(asker, &ended, WNOHANG) == 0) {
        ASSERT_EQ(serve_event_opener(listening.get(), 50), 0);
    }
    ASSERT_TRUE(WIFEXITED(ended));
    EXPECT_EQ(WEXITSTATUS(ended), kCounts);
}

}  // namespace
}  // namespace bobbin::sampler
