// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "symbolize/named_profile.h"

namespace bobbin::output {

enum class Format { kPprof, kFolded, kHtml, kSpeedscope, kFirefox, kFirefoxGzip, kPerfetto };

// By the ending (.pb.gz .pprof .html .folded .speedscope.json .firefox.json .firefox.json.gz
// .pftrace); "-" is pprof's. Error: names the endings there are.
Result<Format> format_of(std::string_view path);

// Who the files belong to: the user behind sudo (SUDO_UID, SUDO_GID), else nobody in particular.
struct FileOwner {
    uid_t uid = 0;
    gid_t gid = 0;
};
std::optional<FileOwner> sudo_user();

struct WrittenFile {
    std::string path;
    std::uint64_t size_bytes = 0;
};

// One file to be written when the recording ends. "-" is standard output.
class OutputFile {
public:
    // Checks ending and directory and that a file can be made there, before anything is recorded.
    static Result<OutputFile> prepare(std::string path);

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] Format format() const { return format_; }

    // Writes to a temporary file beside it and renames; an older file is kept as PATH.old. Mode
    // 0644. When samples came is kept where the format has a place for it.
    Result<WrittenFile> write(const symbolize::NamedProfile& profile,
                              std::optional<FileOwner> owner) const;

private:
    OutputFile(std::string path, Format format) : path_(std::move(path)), format_(format) {}
    std::string path_;
    Format format_;
};

}  // namespace bobbin::output
