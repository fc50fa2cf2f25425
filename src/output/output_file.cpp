// SPDX-License-Identifier: Apache-2.0
#include "output/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/write_all.h"
#include "output/replace_file.h"
#include "profile/firefox.h"
#include "profile/gzip.h"
#include "profile/html.h"
#include "profile/perfetto.h"
#include "profile/pprof.h"
#include "profile/speedscope.h"

namespace bobbin::output {
namespace {

constexpr std::string_view kStandardOutput = "-";

struct Ending {
    std::string_view text;
    Format format;
};
constexpr std::array kEndings = {
    Ending{".pb.gz", Format::kPprof},
    Ending{".pprof", Format::kPprof},
    Ending{".html", Format::kHtml},
    Ending{".folded", Format::kFolded},
    Ending{".speedscope.json", Format::kSpeedscope},
    Ending{".firefox.json", Format::kFirefox},
    Ending{".firefox.json.gz", Format::kFirefoxGzip},
    Ending{".pftrace", Format::kPerfetto},
};

Result<std::string> encode(const symbolize::NamedProfile& profile, Format format) {
    switch (format) {
        case Format::kFolded:
            return profile::encode_folded(profile);
        case Format::kHtml:
            return profile::encode_html(profile);
        case Format::kSpeedscope:
            return profile::encode_speedscope(profile);
        case Format::kFirefox:
            return profile::encode_firefox(profile);
        case Format::kFirefoxGzip:
            return profile::gzip(profile::encode_firefox(profile));
        case Format::kPerfetto:
            return profile::encode_perfetto(profile);
        case Format::kPprof:
            break;
    }
    return profile::encode_pprof(profile, profile::Times::kKeep);
}

Result<> check_standard_output() {
    if (::isatty(STDOUT_FILENO) == 1) {
        return fail("standard output is a terminal: a profile is binary, redirect it to a file");
    }
    return {};
}

}  // namespace

Result<Format> format_of(std::string_view path) {
    if (path == kStandardOutput) return Format::kPprof;
    std::string known;
    for (const Ending& ending : kEndings) {
        if (path.ends_with(ending.text)) return ending.format;
        known.append(known.empty() ? "" : " ").append(ending.text);
    }
    return fail("output file {}: no format has that ending; there are: {}", path, known);
}

Result<OutputFile> OutputFile::prepare(std::string path) {
    BOBBIN_TRY(const Format format, format_of(path));
    if (path == kStandardOutput) {
        BOBBIN_CHECK(check_standard_output());
        return OutputFile(std::move(path), format);
    }
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        return fail_with(EISDIR, "output file {}", path);
    }
    // Making the file and removing it again is the one check that knows read-only file systems,
    // quotas and immutable directories, which permission bits do not tell root about.
    if (auto trial = ReplacementFile::create(path); !trial) {
        return fail(std::move(trial).error()).context("output file {}", path);
    }
    return OutputFile(std::move(path), format);
}

Result<WrittenFile> OutputFile::write(const symbolize::NamedProfile& profile,
                                      std::optional<FileOwner> owner) const {
    BOBBIN_TRY(const std::string bytes, encode(profile, format_));
    if (path_ == kStandardOutput) {
        BOBBIN_CHECK(write_all(STDOUT_FILENO, bytes, "standard output"));
    } else {
        BOBBIN_TRY(ReplacementFile file, ReplacementFile::create(path_));
        BOBBIN_CHECK(file.write(bytes));
        BOBBIN_CHECK(file.put_in_place(owner));
    }
    return WrittenFile{path_, bytes.size()};
}

}  // namespace bobbin::output
