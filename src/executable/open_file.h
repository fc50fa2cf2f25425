// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::executable {

// One record of the kernel side's `announcements`; nullopt: too short to be one.
std::optional<abi::announcement> parse_announcement(std::span<const std::byte> record);

// When and why the kernel side told of a file.
struct Announced {
    std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC; 0: nobody did
    std::uint32_t reason = 0;   // enum announcement_reason
};

// A file that was announced, held: from here on nobody can take its bytes away by deleting or
// replacing it. First step of open, build, publish; the step that must not wait.
struct OpenedFile {
    abi::file_key key{};
    std::uint32_t executable_id = 0;
    std::string path;  // for people; empty: whoever builds asks the kernel
    UniqueFd fd;       // perhaps an O_PATH one, which build_executable opens for reading
    std::uint64_t size_bytes = 0;
    Announced announced{};
};

Announced announced_by(const abi::announcement& announcement);

// X(enumerator, text for people, whether the next sample that meets the file shall announce it
// again)
#define BOBBIN_LOST_REASONS(X)                                          \
    X(kGone, "gone before it could be opened", true)                    \
    X(kReplaced, "changed before it could be opened", true)             \
    X(kNoDescriptor, "more files open than RLIMIT_NOFILE allows", true) \
    X(kNotRegular, "not a regular file", false)                         \
    X(kTooSlow, "its file system did not answer in time", false)        \
    X(kTooLarge, "too large to be read within --max-memory", false)

enum class LostReason : std::uint8_t {
#define X(enumerator, text, again) enumerator,
    BOBBIN_LOST_REASONS(X)
#undef X
        kCount
};
inline constexpr auto kLostReasonCount = static_cast<std::size_t>(LostReason::kCount);
using LostFileCounts = std::array<std::uint64_t, kLostReasonCount>;

const char* describe(LostReason reason);
bool shall_be_announced_again(LostReason reason);
// "3 files lost: 2 gone before it could be opened, 1 ..."; empty when none was.
std::string describe(const LostFileCounts& counts);

struct LostFile {
    LostReason reason = LostReason::kGone;
    Error error;
};

// Finds the file behind an announced mapping through /proc/PID/map_files, which leads to the mapped
// file itself whatever its path says by now; where that is not allowed or the mapping is gone,
// /proc/PID/exe. What was found must be regular and have the size and mtime that the kernel side
// saw; where stat shows the inode's own device, also its number. Nothing is opened for reading, so
// neither a device nor the server of a file system notices. `proc` is "/proc" but in tests.
tl::expected<OpenedFile, LostFile> open_announced(const abi::announcement& announcement,
                                                  const std::string& proc = "/proc");

}  // namespace bobbin::executable
