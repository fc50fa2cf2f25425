// SPDX-License-Identifier: Apache-2.0
#include "sampler/pid_namespace.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

namespace bobbin::sampler {

// PROC_PID_INIT_INO of <linux/proc_ns.h>, since 3.8.
bool is_in_root_pid_namespace() {
    constexpr ino_t kRootPidNamespace = 0xEFFFFFFC;
    struct stat own{};
    return ::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == kRootPidNamespace;
}

std::uint32_t levels_below_proc() {
    std::ifstream file("/proc/self/status");
    const std::string status{std::istreambuf_iterator<char>(file), {}};
    return levels_below_proc(status);
}

// "NSpid:\t4242\t17\t1": a tab before each number.
std::uint32_t levels_below_proc(std::string_view status) {
    constexpr std::string_view kTitle = "\nNSpid:";
    const std::size_t at = status.find(kTitle);
    if (at == std::string_view::npos) return 0;
    std::string_view numbers = status.substr(at + kTitle.size());
    numbers = numbers.substr(0, numbers.find('\n'));
    const auto count = static_cast<std::uint32_t>(std::ranges::count(numbers, '\t'));
    return count > 0 ? count - 1 : 0;
}

std::optional<pid_t> number_in_proc(int pidfd) {
    std::ifstream file("/proc/self/fdinfo/" + std::to_string(pidfd));
    pid_t number = 0;
    for (std::string word; file >> word;) {
        if (word == "Pid:" && file >> number && number > 0) return number;
    }
    return std::nullopt;
}

}  // namespace bobbin::sampler
