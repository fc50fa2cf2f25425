// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_packages.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/unique_fd.h"

namespace bobbin::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxPrintedBytes = 1 << 20;
constexpr std::string_view kUsr = "/usr";

// The path that dpkg may know the file by: before links from / to /usr there were both.
std::string without_usr(const std::string& path) {
    const bool is_merged = path.starts_with("/usr/lib") || path.starts_with("/usr/bin/") ||
                           path.starts_with("/usr/sbin/");
    return is_merged ? path.substr(kUsr.size()) : std::string();
}

// dpkg-query takes patterns; a path that could be one, or would break its lines, is not asked for.
bool is_plain(std::string_view path) {
    return path.starts_with('/') && path.find_first_of("*?[]\\\n") == std::string_view::npos;
}

class Child {
public:
    static std::optional<Child> start(std::vector<std::string> words) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
        Child child;
        child.output_.reset(ends[0]);
        const UniqueFd input(ends[1]);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
        ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        std::vector<char*> arguments;
        arguments.reserve(words.size() + 1);
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        std::string language = "LC_ALL=C";
        std::array<char*, 2> environment{language.data(), nullptr};
        const int code = ::posix_spawn(&child.pid_, words.front().c_str(), &actions, nullptr,
                                       arguments.data(), environment.data());
        ::posix_spawn_file_actions_destroy(&actions);
        if (code != 0) return std::nullopt;
        return child;
    }

    Child(Child&& other) noexcept
        : pid_(std::exchange(other.pid_, -1)), output_(std::move(other.output_)) {}
    Child& operator=(Child&&) = delete;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);  // not waited for yet, so the pid is still its
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }

    // All that it prints until it ends or `deadline` comes.
    std::string read_until(Clock::time_point deadline) {
        std::string text;
        std::array<char, 4096> part{};
        while (text.size() < kMaxPrintedBytes) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
            if (left <= 0) break;
            pollfd readable{.fd = output_.get(), .events = POLLIN, .revents = 0};
            if (::poll(&readable, 1, static_cast<int>(left)) <= 0 && errno != EINTR) break;
            if (readable.revents == 0) continue;
            const ssize_t size = ::read(output_.get(), part.data(), part.size());
            if (size <= 0) break;
            text.append(part.data(), static_cast<std::size_t>(size));
        }
        return text;
    }

private:
    Child() = default;

    pid_t pid_ = -1;
    UniqueFd output_;
};

}  // namespace

std::map<std::string, std::string> read_packages(std::string_view printed,
                                                 std::span<const std::string> paths) {
    std::map<std::string, std::string, std::less<>> package_by_path;
    while (!printed.empty()) {
        const std::string_view line = printed.substr(0, printed.find('\n'));
        printed.remove_prefix(std::min(printed.size(), line.size() + 1));
        const std::size_t separator = line.find(": /");
        if (separator == std::string_view::npos || line.starts_with("diversion by ")) continue;
        // "a, b: /path" where packages share it; "libc6:amd64" with its architecture.
        const std::string_view package = line.substr(0, line.find_first_of(",: "));
        package_by_path.emplace(line.substr(separator + 2), package);
    }
    std::map<std::string, std::string> result;
    for (const std::string& path : paths) {
        for (const std::string& known : {path, without_usr(path)}) {
            const auto found = package_by_path.find(known);
            if (found != package_by_path.end()) result.emplace(path, found->second);
        }
    }
    return result;
}

std::map<std::string, std::string> find_packages(std::span<const std::string> paths,
                                                 std::chrono::milliseconds patience,
                                                 const std::string& dpkg_query) {
    std::vector<std::string> words{dpkg_query, "--search"};
    for (const std::string& path : paths) {
        if (!is_plain(path)) continue;
        words.push_back(path);
        if (std::string other = without_usr(path); !other.empty())
            words.push_back(std::move(other));
    }
    if (words.size() == 2) return {};
    auto child = Child::start(std::move(words));
    if (!child) return {};
    return read_packages(child->read_until(Clock::now() + patience), paths);
}

}  // namespace bobbin::cli
