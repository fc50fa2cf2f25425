// SPDX-License-Identifier: Apache-2.0
#include "output/replace_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "base/write_all.h"

namespace bobbin::output {
namespace {

constexpr int kNameAttempts = 100;

struct SplitPath {
    std::string directory;
    std::string name;
};

SplitPath split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Result<std::uint64_t> random_number() {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
        return fail_with(errno, "read random bytes");
    }
    return number;
}

}  // namespace

Result<ReplacementFile> ReplacementFile::create(const std::string& path) {
    ReplacementFile file;
    const SplitPath parts = split(path);
    file.path_ = path;
    file.name_ = parts.name;
    file.directory_.reset(
        ::open(parts.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOCTTY));
    if (!file.directory_.is_open()) return fail_with(errno, "open directory {}", parts.directory);

    int error = EEXIST;
    for (int attempt = 0; attempt < kNameAttempts && error == EEXIST; ++attempt) {
        BOBBIN_TRY(const std::uint64_t number, random_number());
        const std::string name = fmt::format(".bobbin-{:016x}", number);
        const int fd = ::openat(file.directory_.get(), name.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            file.file_.reset(fd);
            file.temporary_name_ = name;
            return file;
        }
        error = errno;
    }
    return fail_with(error, "make a file in {}", parts.directory);
}

ReplacementFile::ReplacementFile(ReplacementFile&& other) noexcept
    : directory_(std::move(other.directory_)),
      file_(std::move(other.file_)),
      path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      temporary_name_(std::exchange(other.temporary_name_, {})) {}

ReplacementFile::~ReplacementFile() {
    if (directory_.is_open() && !temporary_name_.empty())
        ::unlinkat(directory_.get(), temporary_name_.c_str(), 0);
}

Result<> ReplacementFile::write(std::string_view bytes) {
    return write_all(file_.get(), bytes, path_);
}

Result<bool> ReplacementFile::keep_old_file() {
    struct stat status{};
    if (::fstatat(directory_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return false;
        return fail_with(errno, "look at {}", path_);
    }
    if (S_ISDIR(status.st_mode)) return fail_with(EISDIR, "replace {}", path_);
    const std::string old_name = name_ + ".old";
    if (::renameat(directory_.get(), name_.c_str(), directory_.get(), old_name.c_str()) != 0) {
        return fail_with(errno, "keep the old file as {}.old", path_);
    }
    return true;
}

Result<> ReplacementFile::put_in_place(std::optional<FileOwner> owner) {
    if (::fchmod(file_.get(), 0644) != 0) return fail_with(errno, "set the mode of {}", path_);
    if (owner && ::fchown(file_.get(), owner->uid, owner->gid) != 0) {
        return fail_with(errno, "give {} to user {}", path_, owner->uid);
    }
    BOBBIN_TRY(const bool has_old_file, keep_old_file());
    const int directory = directory_.get();
    if (::renameat(directory, temporary_name_.c_str(), directory, name_.c_str()) != 0) {
        const int reason = errno;
        const std::string old_name = name_ + ".old";
        if (has_old_file) ::renameat(directory, old_name.c_str(), directory, name_.c_str());
        return fail_with(reason, "rename to {}", path_);
    }
    temporary_name_.clear();
    return {};
}

}  // namespace bobbin::output
