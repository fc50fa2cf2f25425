// SPDX-License-Identifier: Apache-2.0
#include "executable/mounts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/parse_number.h"

namespace bobbin::executable {
namespace {

constexpr unsigned kDeviceMinorBits = 20;  // <linux/kdev_t.h>

// Sorted, for the search.
constexpr std::array<std::string_view, 39> kTypesLeftOut = {
    "9p",       "afs",     "autofs",  "binder",  "binfmt_misc", "bpf",        "ceph",
    "cgroup",   "cgroup2", "cifs",    "coda",    "configfs",    "debugfs",    "devpts",
    "efivarfs", "fuse",    "fuseblk", "fusectl", "gfs2",        "hugetlbfs",  "mqueue",
    "ncpfs",    "nfs",     "nfs4",    "nfsd",    "nsfs",        "ocfs2",      "orangefs",
    "pipefs",   "proc",    "pstore",  "resctrl", "rpc_pipefs",  "securityfs", "selinuxfs",
    "smackfs",  "smb3",    "sysfs",   "tracefs",
};
static_assert(std::ranges::is_sorted(kTypesLeftOut));

bool is_left_out(std::string_view type) {
    return type.starts_with("fuse.") || std::ranges::binary_search(kTypesLeftOut, type);
}

std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

// "254:1"
std::optional<std::uint32_t> parse_device(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto major = parse_number<std::uint32_t>(text.substr(0, colon));
    const auto minor = parse_number<std::uint32_t>(text.substr(colon + 1));
    if (!major || !minor) return std::nullopt;
    return *major << kDeviceMinorBits | *minor;
}

// Space, tab, newline and backslash are written as \040 and so on.
std::string unescape(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool may_be_code = text[i] == '\\' && text.size() - i > 3;
        const auto code =
            may_be_code ? parse_number<unsigned char>(text.substr(i + 1, 3), 8) : std::nullopt;
        plain += code ? static_cast<char>(*code) : text[i];
        if (code) i += 3;
    }
    return plain;
}

// "36 35 98:0 /root /mnt/point rw,noatime master:1 - ext3 /dev/root rw": any number of optional
// fields stands before the dash.
std::optional<Mount> parse_mount(std::string_view line) {
    take_word(line);
    take_word(line);
    const auto device = parse_device(take_word(line));
    take_word(line);
    const std::string_view path = take_word(line);
    const std::size_t dash = line.find(" - ");
    if (!device || path.empty() || dash == std::string_view::npos) return std::nullopt;
    line.remove_prefix(dash + 3);
    return Mount{*device, unescape(path), std::string(take_word(line))};
}

}  // namespace

std::vector<Mount> mounts_with_programs(std::string_view mountinfo, std::size_t max_count) {
    std::vector<Mount> mounts;
    std::unordered_set<std::uint32_t> seen;
    while (!mountinfo.empty() && mounts.size() < max_count) {
        const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
        auto mount = parse_mount(mountinfo.substr(0, end));
        mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
        if (!mount || is_left_out(mount->type) || !seen.insert(mount->device).second) continue;
        mounts.push_back(std::move(*mount));
    }
    return mounts;
}

}  // namespace bobbin::executable
