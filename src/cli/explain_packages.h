// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace bobbin::cli {

// The packages that own files, by path, as dpkg of this machine knows them. A file that is in none,
// or a machine without dpkg, or one that takes longer than `patience`, has no entry. No shell.
std::map<std::string, std::string> find_packages(
    std::span<const std::string> paths,
    std::chrono::milliseconds patience = std::chrono::seconds{5},
    const std::string& dpkg_query = "/usr/bin/dpkg-query");

// The same from what `dpkg-query --search` printed: "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6".
// Since /lib is a link to /usr/lib, a path of one is the other's too.
std::map<std::string, std::string> read_packages(std::string_view printed,
                                                 std::span<const std::string> paths);

}  // namespace bobbin::cli
