// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "output/output_file.h"

namespace bobbin::output {
namespace {

// Digits only: no sign, no blank, nothing behind. (uid_t)-1 means "leave as it is" to chown.
std::optional<std::uint32_t> parse_id(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr) return std::nullopt;
    const std::string_view text(value);
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (id == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return id;
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
