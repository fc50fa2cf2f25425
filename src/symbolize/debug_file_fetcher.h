// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "symbolize/debuginfod_client.h"
#include "symbolize/spawned_process.h"

namespace bobbin::symbolize {

struct FetchOptions {
    std::string urls;  // of debuginfod servers, separated by blanks
    std::optional<DownloadUser> user;
    std::string program = "/proc/self/exe";  // hands kAgentSocketFd to serve_downloads()
};

// `bobbin debuginfod-client [UID GID]`
inline constexpr const char* kDownloaderArgument = "debuginfod-client";

// Gets debug files from debuginfod servers, through a process of its own. Any thread, one at a
// time. After two failures no server is asked any more: that one waits for many modules in a row
// (90 s each, by the library's own limits) is what makes people turn debuginfod off.
class DebugFileFetcher {
public:
    // $DEBUGINFOD_TIMEOUT, if it is set, is the first one instead.
    static constexpr std::chrono::seconds kPatienceWithServer{5};  // for 100 KB more
    static constexpr std::chrono::seconds kPatienceWithFile{20};
    static constexpr std::size_t kMaxFailures = 2;

    explicit DebugFileFetcher(FetchOptions options) : options_(std::move(options)) {}
    ~DebugFileFetcher() { end(); }
    DebugFileFetcher(const DebugFileFetcher&) = delete;
    DebugFileFetcher& operator=(const DebugFileFetcher&) = delete;

    // Of this build id, which was checked; not open: no server has it, or none is asked any more.
    UniqueFd fetch(const elf::BuildId& build_id);

    [[nodiscard]] std::size_t failure_count() const { return failure_count_; }
    [[nodiscard]] const std::string& last_failure() const { return last_failure_; }

private:
    Result<UniqueFd> ask(const std::string& build_id);
    Result<> start();
    void end();

    FetchOptions options_;
    std::optional<SpawnedProcess> process_;
    std::size_t failure_count_ = 0;
    std::string last_failure_;
};

}  // namespace bobbin::symbolize
