// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdint>
#include <limits>

#include "base/parse_number.h"
#include "output/output_file.h"

namespace bobbin::output {
namespace {

// (uid_t)-1 means "leave as it is" to chown.
std::optional<std::uint32_t> parse_id(const char* variable) {
    const auto id = number_in_environment<std::uint32_t>(variable);
    return id == std::numeric_limits<std::uint32_t>::max() ? std::nullopt : id;
}

}  // namespace

// Anybody can set the variables; only root can give files away.
std::optional<FileOwner> sudo_user() {
    if (::geteuid() != 0) return std::nullopt;
    const auto uid = parse_id("SUDO_UID");
    const auto gid = parse_id("SUDO_GID");
    if (!uid || !gid) return std::nullopt;
    return FileOwner{*uid, *gid};
}

}  // namespace bobbin::output
