// SPDX-License-Identifier: Apache-2.0
#include "executable/open_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "executable/file_status.h"

namespace bobbin::executable {
namespace {

using Opened = tl::expected<OpenedFile, LostFile>;

template <class... Args>
tl::unexpected<LostFile> lost(LostReason reason, int code, fmt::format_string<Args...> format,
                              Args&&... args) {
    return tl::unexpected(LostFile{reason, Error(fmt::format(format, std::forward<Args>(args)...),
                                                 std::error_code(code, std::generic_category()))});
}

Opened open_link(const abi::announcement& announcement, const std::string& link) {
    UniqueFd fd(open_place(link.c_str()));
    if (!fd.is_open()) {
        const bool no_room = errno == EMFILE || errno == ENFILE;
        return lost(no_room ? LostReason::kNoDescriptor : LostReason::kGone, errno, "open {}",
                    link);
    }
    const auto status = status_of(fd.get());
    if (!status) return tl::unexpected(LostFile{LostReason::kGone, status.error()});
    if (!status->is_regular)
        return lost(LostReason::kNotRegular, 0, "{} is not a regular file", link);
    if (match(announcement.key, *status) == KeyMatch::kNo) {
        return lost(LostReason::kReplaced, 0, "{} is not the file that was announced any more",
                    link);
    }
    return OpenedFile{.key = announcement.key,
                      .executable_id = announcement.executable_id,
                      .path = {},
                      .fd = std::move(fd),
                      .size_bytes = status->size_bytes,
                      .announced = announced_by(announcement)};
}

}  // namespace

std::optional<abi::announcement> parse_announcement(std::span<const std::byte> record) {
    abi::announcement announcement{};
    if (record.size() < sizeof(announcement)) return std::nullopt;
    std::memcpy(&announcement, record.data(), sizeof(announcement));
    return announcement;
}

Announced announced_by(const abi::announcement& announcement) {
    return {.time_ns = announcement.time_ns, .reason = announcement.reason};
}

const char* describe(LostReason reason) {
    static constexpr std::array<const char*, kLostReasonCount> kTexts = {
#define X(enumerator, text, again) text,
        BOBBIN_LOST_REASONS(X)
#undef X
    };
    return kTexts.at(static_cast<std::size_t>(reason));
}

bool shall_be_announced_again(LostReason reason) {
    static constexpr std::array<bool, kLostReasonCount> kAgain = {
#define X(enumerator, text, again) again,
        BOBBIN_LOST_REASONS(X)
#undef X
    };
    return kAgain.at(static_cast<std::size_t>(reason));
}

std::string describe(const LostFileCounts& counts) {
    std::string text;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts.at(i) == 0) continue;
        total += counts.at(i);
        text += fmt::format("{} {} {}", text.empty() ? ":" : ",", counts.at(i),
                            describe(static_cast<LostReason>(i)));
    }
    if (total == 0) return {};
    return fmt::format("{} {} lost{}", total, total == 1 ? "file" : "files", text);
}

Opened open_announced(const abi::announcement& announcement, const std::string& proc) {
    const std::string process = fmt::format("{}/{}", proc, announcement.pid);
    auto opened = open_link(
        announcement, fmt::format("{}/map_files/{:x}-{:x}", process, announcement.vm_start_vaddr,
                                  announcement.vm_end_vaddr));
    if (opened) return opened;
    if (auto exe = open_link(announcement, process + "/exe")) return exe;
    return opened;
}

}  // namespace bobbin::executable
