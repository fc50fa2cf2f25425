// SPDX-License-Identifier: Apache-2.0
#include "sampler/cgroup_tree.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"

namespace bobbin::sampler {
namespace {

namespace fs = std::filesystem;

// A busy node of Kubernetes has some thousands.
constexpr std::size_t kMaxVisited = 100'000;

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> fields;
    while (!line.empty()) {
        const auto end = line.find(' ');
        fields.push_back(line.substr(0, end));
        line = end == std::string_view::npos ? std::string_view{} : line.substr(end + 1);
    }
    return fields;
}

struct Mount {
    std::string_view point;
    std::string_view type;
};

// "36 35 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw": proc_pid_mountinfo(5).
std::optional<Mount> parse_mount(std::string_view line) {
    constexpr std::size_t kPointField = 4;
    const auto fields = split(line);
    for (std::size_t i = kPointField + 1; i + 1 < fields.size(); ++i) {
        if (fields[i] == "-") return Mount{fields[kPointField], fields[i + 1]};
    }
    return std::nullopt;
}

bool lies_in(std::string_view path, std::string_view directory) {
    return path.starts_with(directory) &&
           (path.size() == directory.size() || path[directory.size()] == '/');
}

std::string link_target(const std::string& path) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    return length < 0 ? std::string()
                      : std::string(target.data(), static_cast<std::size_t>(length));
}

void add_subdirectories(const std::string& place, std::vector<std::string>& to) {
    std::error_code gone;
    for (fs::directory_iterator entry(place, gone), end; !gone && entry != end;
         entry.increment(gone)) {
        std::error_code unknown;
        if (entry->symlink_status(unknown).type() == fs::file_type::directory) {
            to.push_back(entry->path().string());
        }
    }
}

}  // namespace

Result<CgroupTree> CgroupTree::from_mounts(std::string_view mountinfo) {
    CgroupTree tree;
    while (!mountinfo.empty()) {
        const auto end = mountinfo.find('\n');
        const auto mount = parse_mount(mountinfo.substr(0, end));
        mountinfo = end == std::string_view::npos ? std::string_view{} : mountinfo.substr(end + 1);
        if (!mount) continue;
        if (mount->type == "cgroup") tree.version_1_ = true;
        if (mount->type == "cgroup2" && tree.mount_point_.empty()) tree.mount_point_ = mount->point;
    }
    if (tree.mount_point_.empty() && tree.version_1_) {
        return fail(
            "only cgroups of version 1 are mounted here, and samples tell those of version 2 "
            "apart: "
            "boot with systemd.unified_cgroup_hierarchy=1, or choose by -p, -t or --comm");
    }
    if (tree.mount_point_.empty()) return fail("no cgroup hierarchy of version 2 is mounted");
    return tree;
}

Result<CgroupTree> CgroupTree::open() {
    std::ifstream file("/proc/self/mountinfo");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return from_mounts(text);
}

Result<Cgroup> CgroupTree::at(const std::string& path) const {
    // "/system.slice" and "system.slice" are below the root, "./x" and what lies in the mount are
    // of the file system. So is a path that is not found: of version 1, or a mistake.
    const bool is_of_file_system = path.starts_with('.') || lies_in(path, mount_point_);
    std::error_code problem;
    fs::path place = fs::canonical(is_of_file_system ? path : mount_point_ + "/" + path, problem);
    if (problem) place = fs::canonical(path, problem);
    if (problem) return fail_with(problem.value(), "find {}", path);
    struct statfs file_system{};
    struct stat directory{};
    if (::statfs(place.c_str(), &file_system) != 0 || ::stat(place.c_str(), &directory) != 0) {
        return fail_with(errno, "find {}", place.string());
    }
    if (file_system.f_type == CGROUP_SUPER_MAGIC) {
        return fail("{} is a cgroup of version 1, and bobbin tells those of version 2 apart",
                    place.string());
    }
    if (file_system.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(directory.st_mode) ||
        !lies_in(place.string(), mount_point_)) {
        return fail("{} is no cgroup below {}", place.string(), mount_point_);
    }
    return Cgroup{directory.st_ino, below(place.string())};
}

std::string CgroupTree::below(const std::string& place) const {
    return place == mount_point_ ? "/" : place.substr(mount_point_.size());
}

// Not a recursive iterator: that one ends with the first cgroup that goes away under it.
std::vector<Cgroup> CgroupTree::find(const Accepts& accepts) const {
    std::vector<Cgroup> found;
    std::vector<std::string> pending{mount_point_};
    for (std::size_t visited = 0; !pending.empty() && visited < kMaxVisited; ++visited) {
        const std::string place = std::move(pending.back());
        pending.pop_back();
        struct stat directory{};
        if (::stat(place.c_str(), &directory) != 0) continue;
        const std::string path = below(place);
        if (accepts(std::string_view(path).substr(path.rfind('/') + 1), path)) {
            found.push_back({directory.st_ino, path});
            continue;
        }
        add_subdirectories(place, pending);
    }
    return found;
}

std::optional<std::string> CgroupTree::path_of(std::uint64_t id) const {
    constexpr int kFileIdKernfs = 0xfe;  // FILEID_KERNFS of <linux/exportfs.h>, since 5.5
    alignas(file_handle) std::array<std::byte, sizeof(file_handle) + sizeof(id)> storage{};
    const file_handle header{.handle_bytes = sizeof(id), .handle_type = kFileIdKernfs};
    std::memcpy(storage.data(), &header, sizeof(header));
    std::memcpy(storage.data() + sizeof(header), &id, sizeof(id));
    const UniqueFd mount(::open(mount_point_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd cgroup(::open_by_handle_at(
        mount.get(), reinterpret_cast<file_handle*>(storage.data()), O_PATH | O_CLOEXEC));
    if (!cgroup.is_open()) return std::nullopt;
    const std::string place = link_target("/proc/self/fd/" + std::to_string(cgroup.get()));
    if (!lies_in(place, mount_point_)) return std::nullopt;
    return below(place);
}

}  // namespace bobbin::sampler
