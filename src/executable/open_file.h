// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::executable {

// One record of the kernel side's `announcements`; nullopt: too short to be one.
std::optional<abi::announcement> parse_announcement(std::span<const std::byte> record);

// A file that was announced, held open: from here on nobody can take its bytes away by deleting or
// replacing it. First step of open, build, publish; the step that must not wait.
struct OpenedFile {
    abi::file_key key{};
    std::uint32_t executable_id = 0;
    std::string path;  // for people
    UniqueFd fd;
    std::uint64_t size_bytes = 0;
};

// Opens the file behind an announced mapping through /proc/PID/map_files, which leads to the mapped
// file itself whatever its path says by now; where that is not allowed or the mapping is gone,
// /proc/PID/exe. What was opened must have the size and mtime that the kernel side saw.
// Error: the process is gone, or shows another file. `proc` is "/proc" but in tests.
Result<OpenedFile> open_announced(const abi::announcement& announcement,
                                  const std::string& proc = "/proc");

}  // namespace bobbin::executable
