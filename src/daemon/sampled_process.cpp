// SPDX-License-Identifier: Apache-2.0
#include "daemon/sampled_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/parse_number.h"
#include "daemon/proc_stat.h"
#include "executable/file_status.h"

namespace bobbin::daemon {
namespace {

constexpr std::size_t kMaxStatusBytes = 64 << 10;
// vm.max_map_count is 65,530 mappings unless somebody raised it, a line of which has 73 characters
// and a path.
constexpr std::size_t kMaxMapsBytes = 16 << 20;
constexpr std::uint64_t kNanosecondsPerTick = 10'000'000;  // USER_HZ is 100 on x86-64

std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    return word;
}

std::string read_bounded(int directory_fd, const char* name, std::size_t max_bytes) {
    constexpr std::size_t kPieceBytes = 64 << 10;
    const UniqueFd fd(::openat(directory_fd, name, O_RDONLY | O_CLOEXEC));
    std::string text;
    while (fd.is_open() && text.size() < max_bytes) {
        const std::size_t before = text.size();
        text.resize(before + std::min(kPieceBytes, max_bytes - before));
        const ssize_t count = ::read(fd.get(), text.data() + before, text.size() - before);
        text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count <= 0) break;
    }
    return text;
}

// jit-NUMBER.dump, as perf looks for it; without " (deleted)".
std::optional<pid_t> jitdump_number(std::string_view path) {
    constexpr std::string_view kDeleted = " (deleted)";
    constexpr std::string_view kHead = "/jit-";
    constexpr std::string_view kTail = ".dump";
    if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
    path.remove_prefix(std::min(path.rfind('/'), path.size()));
    if (!path.starts_with(kHead) || !path.ends_with(kTail)) return std::nullopt;
    path.remove_prefix(kHead.size());
    path.remove_suffix(std::min(kTail.size(), path.size()));
    return parse_number<pid_t>(path);
}

bool is_process(int directory_fd, const symbolize::ProcessId& id) {
    const auto start = parse_start_ticks(read_bounded(directory_fd, "stat", kMaxStatusBytes));
    return start && *start == id.start_boot_ns / kNanosecondsPerTick;
}

UniqueFd open_tmp(int directory_fd) {
    const UniqueFd root(::openat(directory_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    // An absolute link, too, stays inside: /proc/PID/root alone would lead out of a container.
    how.resolve = RESOLVE_IN_ROOT;
    return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root.get(), "tmp", &how, sizeof(how))));
}

// Of several numbers of one process the last is that of the innermost namespace.
void add_number(std::string_view key, std::string_view word, ProcessIdentity& identity) {
    if (key == "NSpid:") identity.own_pid = parse_number<pid_t>(word).value_or(0);
    const auto uid = parse_number<uid_t>(word);
    if (key == "Uid:" && uid) identity.uids.insert(*uid);
}

}  // namespace

std::optional<ProcessIdentity> parse_identity(std::string_view status) {
    ProcessIdentity identity;
    while (!status.empty()) {
        std::string_view line = take_line(status);
        const std::string_view key = take_word(line);
        if (key != "Uid:" && key != "NSpid:") continue;
        for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
            add_number(key, word, identity);
        }
    }
    if (identity.own_pid == 0 || identity.uids.empty()) return std::nullopt;
    return identity;
}

// It is the 22nd field.
std::optional<std::uint64_t> parse_start_ticks(std::string_view stat) {
    constexpr int kFieldsBefore = 19;  // from the state, the third, on
    stat = behind_name(stat);
    for (int i = 0; i < kFieldsBefore; ++i) take_word(stat);
    return parse_number<std::uint64_t>(take_word(stat));
}

std::string find_jitdump_mapping(std::string_view maps, pid_t own_pid) {
    std::string_view found;
    while (!maps.empty()) {
        std::string_view line = take_line(maps);
        const std::string_view range = take_word(line);
        const std::string_view permissions = take_word(line);
        if (permissions.size() < 3 || permissions[2] != 'x') continue;
        for (int i = 0; i < 3; ++i) take_word(line);  // offset, device, inode
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        const auto number = jitdump_number(line);
        if (!number) continue;
        if (*number == own_pid) return std::string(range);
        found = range;
    }
    return std::string(found);
}

Result<SampledProcess> SampledProcess::open(const symbolize::ProcessId& id) {
    const std::string path = fmt::format("/proc/{}", id.pid);
    const UniqueFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open()) return fail_with(errno, "open {}", path);
    UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0)));
    if (!pidfd.is_open()) return fail_with(errno, "pidfd_open {}", id.pid);
    // The directory is of one process: while it can be read, nobody else has its number.
    if (!is_process(directory.get(), id)) {
        return fail_with(ESRCH, "{} is not the process that was sampled", path);
    }
    SampledProcess process(id, std::move(pidfd));
    process.look_at(directory.get());
    return process;
}

Result<UniqueFd> SampledProcess::open_directory() const {
    const std::string path = fmt::format("/proc/{}", id_.pid);
    UniqueFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open()) return fail_with(errno, "open {}", path);
    if (!is_process(directory.get(), id_)) return fail_with(ESRCH, "{} is another process", path);
    return directory;
}

// Both may change in a life: by setuid, by pivot_root. A process that is ending has its user still
// but its directories no more.
void SampledProcess::look_at(int directory_fd) {
    const std::string status = read_bounded(directory_fd, "status", kMaxStatusBytes);
    if (auto identity = parse_identity(status)) identity_ = std::move(*identity);
    if (UniqueFd tmp = open_tmp(directory_fd); tmp.is_open()) tmp_ = std::move(tmp);
}

// What is only a place cannot do anything when it is opened; what it is decides.
Result<UniqueFd> SampledProcess::open_own(UniqueFd place) const {
    struct stat status{};
    if (::fstat(place.get(), &status) != 0) return fail_with(errno, "fstat");
    if (!S_ISREG(status.st_mode)) return fail("it is not a regular file");
    if (status.st_uid != 0 && !identity_.uids.contains(status.st_uid)) {
        return fail("it belongs to user {}, who is neither the process's nor root", status.st_uid);
    }
    BOBBIN_TRY(const int fd, executable::open_contents(place.get()));
    return UniqueFd(fd);
}

Result<UniqueFd> SampledProcess::open_perf_map() {
    if (const auto directory = open_directory()) look_at(directory->get());
    if (!tmp_.is_open()) return fail_with(ENOENT, "process {} has no /tmp", id_.pid);
    const std::string name = fmt::format("perf-{}.map", identity_.own_pid);
    UniqueFd place(::openat(tmp_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!place.is_open()) return fail_with(errno, "open {} of process {}", name, id_.pid);
    auto file = open_own(std::move(place));
    if (!file) {
        return fail(std::move(file).error()).context("{} of process {} is not read", name, id_.pid);
    }
    return file;
}

Result<UniqueFd> SampledProcess::open_jitdump() {
    BOBBIN_TRY(const UniqueFd directory, open_directory());
    const std::string maps = read_bounded(directory.get(), "maps", kMaxMapsBytes);
    const std::string mapping = find_jitdump_mapping(maps, identity_.own_pid);
    if (mapping.empty()) return fail_with(ENOENT, "process {} shows no jitdump", id_.pid);
    const std::string link = "map_files/" + mapping;
    UniqueFd place(::openat(directory.get(), link.c_str(), O_PATH | O_CLOEXEC));
    if (!place.is_open()) return fail_with(errno, "open /proc/{}/{}", id_.pid, link);
    auto file = open_own(std::move(place));
    if (!file) {
        return fail(std::move(file).error()).context("jitdump of process {} is not read", id_.pid);
    }
    return file;
}

}  // namespace bobbin::daemon
