// SPDX-License-Identifier: Apache-2.0
#include "output/read_profile.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/unique_fd.h"
#include "profile/gzip.h"
#include "profile/read_folded.h"
#include "profile/read_perf_script.h"
#include "profile/read_pprof.h"
#include "profile/read_speedscope.h"

namespace bobbin::output {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;
// tools/perf/Documentation/perf.data-file-format.txt
constexpr std::string_view kPerfDataMagic = "PERFILE2";
// A message of protobuf has control characters among these, a text has none but blanks.
constexpr std::size_t kLookedAtBytes = 64;

Result<std::string> read_whole(int fd) {
    std::string bytes;
    while (true) {
        const std::size_t had = bytes.size();
        bytes.resize(had + kReadBytes);
        const ssize_t added = ::read(fd, bytes.data() + had, kReadBytes);
        if (added < 0 && errno != EINTR) return fail_with(errno, "read");
        bytes.resize(had + static_cast<std::size_t>(added < 0 ? 0 : added));
        if (added == 0) return bytes;
        if (bytes.size() > profile::kMaxProfileBytes) {
            return fail("more than {} bytes", profile::kMaxProfileBytes);
        }
    }
}

bool is_text(std::string_view bytes) {
    return std::ranges::none_of(bytes.substr(0, kLookedAtBytes), [](char c) {
        return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r';
    });
}

// Formats with one kind of value: another name than theirs is a mistake, as it is in pprof's.
Result<symbolize::NamedProfile> choose_value(symbolize::NamedProfile profile,
                                             std::string_view name) {
    if (name.empty() || name == profile.value_type.name) return profile;
    if (name != profile.count_type.name) {
        return fail("no values are called {}; there are: {} {}", name, profile.count_type.name,
                    profile.value_type.name);
    }
    profile.value_type = profile.count_type;
    for (symbolize::NamedStack& stack : profile.stacks) stack.value = stack.count;
    return profile;
}

Result<symbolize::NamedProfile> read_text(std::string_view text, std::string_view value_name) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return fail("nothing in it");
    if (text[first] == '{') {
        BOBBIN_TRY(auto profile, profile::read_speedscope(text));
        return choose_value(std::move(profile), value_name);
    }
    if (profile::is_perf_script(text)) {
        const bool is_count = value_name == symbolize::NamedProfile{}.count_type.name;
        const bool is_cpu = value_name == symbolize::ValueType{}.name;
        BOBBIN_TRY(auto profile, profile::read_perf_script(
                                     text, is_count || is_cpu ? std::string_view() : value_name));
        if (is_count || is_cpu) return choose_value(std::move(profile), value_name);
        return profile;
    }
    BOBBIN_TRY(auto profile, profile::read_folded(text));
    return choose_value(std::move(profile), value_name);
}

Result<symbolize::NamedProfile> read_bytes(std::string_view bytes, std::string_view value_name) {
    std::string text;
    if (profile::is_gzip(bytes)) {
        BOBBIN_TRY(text, profile::gunzip(bytes, profile::kMaxProfileBytes));
        bytes = text;
    }
    if (bytes.starts_with(kPerfDataMagic)) {
        return fail("this is perf.data: `perf script -i FILE` prints it as text that can be read");
    }
    if (!bytes.empty() && is_text(bytes)) return read_text(bytes, value_name);
    return profile::read_pprof(bytes, value_name);
}

}  // namespace

Result<symbolize::NamedProfile> read_profile(const std::string& path, std::string_view value_name) {
    UniqueFd file;
    if (path != "-") {
        file = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
        if (!file.is_open()) return fail_with(errno, "{}", path);
    }
    auto bytes = read_whole(path == "-" ? STDIN_FILENO : file.get());
    if (!bytes) return fail(std::move(bytes).error()).context("{}", path);
    auto profile = read_bytes(*bytes, value_name);
    if (!profile) return fail(std::move(profile).error()).context("{}", path);
    return profile;
}

}  // namespace bobbin::output
