// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/child_process.h"
#include "support/stacks.h"
#include "support/temporary_directory.h"

namespace bobbin::test {

// `bobbin daemon` in the foreground, with everything it writes in a directory of the test.
class ServiceDaemon {
public:
    // Segments of two seconds at 199 Hz, unless `more` says otherwise: lines of the file, whole
    // tables.
    explicit ServiceDaemon(
        const TemporaryDirectory& directory, const std::string& more = {},
        const std::vector<std::pair<std::string, std::string>>& environment = {});

    static void write_config(const TemporaryDirectory& directory, const std::string& more);

    // Of what it logs.
    [[nodiscard]] bool wait_for_log(std::string_view text) {
        return process_.wait_for_output(text);
    }
    [[nodiscard]] bool wait_until_it_samples() { return wait_for_log("sampling at "); }
    // Until there are as many stored segments.
    [[nodiscard]] bool wait_for_segments(std::size_t count);
    void send_signal(int signal) const { process_.send_signal(signal); }
    FinishedProcess wait() { return process_.wait(); }

private:
    const TemporaryDirectory& directory_;
    ChildProcess process_;
};

// Files of stored segments, oldest first.
std::vector<std::filesystem::path> segment_files(const TemporaryDirectory& directory);
// As `zstd -d` and `go tool pprof -raw` read it.
ProfileText read_segment(const std::filesystem::path& file, const TemporaryDirectory& directory);
std::vector<ProfileText> read_segments(const TemporaryDirectory& directory);

// The counters of all, summed.
std::map<std::string, std::uint64_t> accounts_of(const std::vector<ProfileText>& segments);
// Every tick is accounted for, and every sample that was sent is in one of them.
void expect_accounts_agree(const std::vector<ProfileText>& segments);

}  // namespace bobbin::test
