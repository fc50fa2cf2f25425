// SPDX-License-Identifier: Apache-2.0
#include "store/segment_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <utility>

#include "base/write_all.h"

namespace bobbin::store {
namespace {

using std::chrono::system_clock;

constexpr std::string_view kEnding = ".pb.zst";
constexpr std::size_t kDateBytes = 10;
constexpr unsigned kMaxSameTime = 1000;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using Entries = std::unique_ptr<DIR, CloseDirectory>;

// Of its own position, so that two may be read at once.
Result<Entries> entries_of(int parent, const char* name) {
    UniqueFd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd.is_open()) return fail_with(errno, "open {}", name);
    Entries entries(::fdopendir(fd.get()));
    if (entries == nullptr) return fail_with(errno, "read {}", name);
    (void)fd.release();
    return entries;
}

bool is_date(std::string_view name) {
    return name.size() == kDateBytes && name[4] == '-' && name[7] == '-';
}

Result<> make_directory(int parent, const char* name, unsigned mode) {
    if (::mkdirat(parent, name, mode) != 0) {
        if (errno == EEXIST) return {};
        return fail_with(errno, "make directory {}", name);
    }
    if (::fchmodat(parent, name, mode, 0) != 0) return fail_with(errno, "mode of {}", name);
    // Else a loss of power may leave its files without a name.
    if (parent != AT_FDCWD && ::fsync(parent) != 0) return fail_with(errno, "sync {}", name);
    return {};
}

Result<> sync_directory(int parent, const std::string& name) {
    const UniqueFd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.is_open() || ::fsync(fd.get()) != 0) return fail_with(errno, "sync {}", name);
    return {};
}

}  // namespace

std::string segment_name(system_clock::time_point begin, unsigned number) {
    const auto whole = std::chrono::floor<std::chrono::milliseconds>(begin);
    const std::time_t seconds =
        system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(whole));
    const auto rest =
        static_cast<int>((whole.time_since_epoch() % std::chrono::seconds{1}).count());
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    const std::string suffix = number == 1 ? std::string() : fmt::format("-{}", number);
    return fmt::format("{:04}-{:02}-{:02}/{:02}{:02}{:02}.{:03}{}{}", utc.tm_year + 1900,
                       utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, rest,
                       suffix, kEnding);
}

std::optional<system_clock::time_point> time_of_segment(std::string_view name) {
    if (!name.ends_with(kEnding)) return std::nullopt;
    std::tm utc{};
    int milliseconds = 0;
    int end = 0;
    const std::string text(name.substr(0, name.size() - kEnding.size()));
    const int fields =
        // NOLINTNEXTLINE(cert-err34-c): checked by what comes out
        std::sscanf(text.c_str(), "%4d-%2d-%2d/%2d%2d%2d.%3d%n", &utc.tm_year, &utc.tm_mon,
                    &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &milliseconds, &end);
    if (fields != 7) return std::nullopt;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    const auto time =
        system_clock::from_time_t(::timegm(&utc)) + std::chrono::milliseconds{milliseconds};
    unsigned number = 1;
    if (static_cast<std::size_t>(end) != text.size() &&
        // NOLINTNEXTLINE(cert-err34-c): checked by what comes out
        std::sscanf(text.c_str() + end, "-%u", &number) != 1) {
        return std::nullopt;
    }
    // What does not come out the same is not ours: "2026-13-40", a sign, a blank.
    if (segment_name(time, number) != name) return std::nullopt;
    return time;
}

Result<SegmentDirectory> SegmentDirectory::make(const std::string& path) {
    BOBBIN_CHECK(make_directory(AT_FDCWD, path.c_str(), kDirectoryMode));
    const UniqueFd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root.is_open()) return fail_with(errno, "open {}", path);
    BOBBIN_CHECK(make_directory(root.get(), kSegments, kDirectoryMode));
    BOBBIN_TRY(SegmentDirectory directory, open(path));
    // Of directories that another process made, and was killed before it synced.
    for (const UniqueFd* fd : {&directory.root_, &directory.segments_}) {
        if (::fsync(fd->get()) != 0) return fail_with(errno, "sync {}", path);
    }
    return directory;
}

Result<SegmentDirectory> SegmentDirectory::open(const std::string& path) {
    SegmentDirectory directory;
    directory.root_.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.root_.is_open()) return fail_with(errno, "open {}", path);
    directory.segments_.reset(::openat(directory.root_.get(), kSegments,
                                       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!directory.segments_.is_open()) return fail_with(errno, "open {}/{}", path, kSegments);
    return directory;
}

Result<std::vector<SegmentDirectory::File>> SegmentDirectory::list() const {
    BOBBIN_TRY(const Entries dates, entries_of(segments_.get(), "."));
    std::vector<File> files;
    while (const dirent* const date = ::readdir(dates.get())) {
        if (!is_date(date->d_name)) continue;
        const auto entries = entries_of(segments_.get(), date->d_name);
        if (!entries && entries.error().code() == std::errc::no_such_file_or_directory) continue;
        if (!entries) return fail(entries.error());
        while (const dirent* const entry = ::readdir(entries->get())) {
            std::string name = fmt::format("{}/{}", date->d_name, entry->d_name);
            struct stat status{};
            const bool is_there =
                time_of_segment(name) &&
                ::fstatat(segments_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISREG(status.st_mode);
            if (!is_there) continue;
            files.push_back({std::move(name), static_cast<std::uint64_t>(status.st_size)});
        }
    }
    std::ranges::sort(files, {}, &File::name);
    return files;
}

Result<std::string> SegmentDirectory::read(const std::string& name, std::size_t max_bytes) const {
    const UniqueFd file(
        ::openat(segments_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file.is_open()) return fail_with(errno, "open {}", name);
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return fail_with(errno, "look at {}", name);
    if (!S_ISREG(status.st_mode)) return fail_with(EINVAL, "open {}", name);
    std::string bytes(std::min(max_bytes, static_cast<std::size_t>(status.st_size)), '\0');
    std::size_t got = 0;
    while (got < bytes.size()) {
        const ssize_t count = ::read(file.get(), bytes.data() + got, bytes.size() - got);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_with(errno, "read {}", name);
        if (count == 0) break;
        got += static_cast<std::size_t>(count);
    }
    bytes.resize(got);
    return bytes;
}

Result<> SegmentDirectory::write_unfinished(std::string_view bytes) {
    const UniqueFd file(::openat(root_.get(), kUnfinished,
                                 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kFileMode));
    if (!file.is_open()) return fail_with(errno, "make {}", kUnfinished);
    if (::fchmod(file.get(), kFileMode) != 0) return fail_with(errno, "mode of {}", kUnfinished);
    BOBBIN_CHECK(write_all(file.get(), bytes, kUnfinished));
    // Before it has its name: a file of that name is whole.
    if (::fsync(file.get()) != 0) return fail_with(errno, "sync {}", kUnfinished);
    return {};
}

Result<std::string> SegmentDirectory::put_in_place(system_clock::time_point begin) {
    for (unsigned number = 1; number <= kMaxSameTime; ++number) {
        std::string name = segment_name(begin, number);
        const std::string date = name.substr(0, kDateBytes);
        BOBBIN_CHECK(make_directory(segments_.get(), date.c_str(), kDirectoryMode));
        // Nobody else writes here, so what is free stays free until the rename.
        if (::faccessat(segments_.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) continue;
        if (::renameat(root_.get(), kUnfinished, segments_.get(), name.c_str()) != 0) {
            return fail_with(errno, "rename to {}", name);
        }
        BOBBIN_CHECK(sync_directory(segments_.get(), date));
        return name;
    }
    return fail_with(EEXIST, "{} segments begin at once", kMaxSameTime);
}

Result<std::string> SegmentDirectory::write(system_clock::time_point begin,
                                            std::string_view bytes) {
    const Result<> written = write_unfinished(bytes);
    if (!written) {
        remove_unfinished();
        return fail(written.error());
    }
    auto name = put_in_place(begin);
    if (!name) remove_unfinished();
    return name;
}

Result<> SegmentDirectory::remove(const std::string& name) {
    if (::unlinkat(segments_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
        return fail_with(errno, "remove {}", name);
    }
    const std::string date = name.substr(0, kDateBytes);
    ::unlinkat(segments_.get(), date.c_str(), AT_REMOVEDIR);  // if it was the last one there
    return {};
}

void SegmentDirectory::remove_unfinished() { ::unlinkat(root_.get(), kUnfinished, 0); }

}  // namespace bobbin::store
