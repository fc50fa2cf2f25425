// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/child_process.h"
#include "support/stacks.h"
#include "support/temporary_directory.h"

namespace bobbin::test {

struct ServiceConfig {
    // Lines of the file, whole tables; empty: 199 Hz, whatever it costs.
    std::string more;
    std::string segment = "2s";
    std::string store = "store";  // within the test's directory
};

// `bobbin daemon` in the foreground, with everything it writes in a directory of the test.
class ServiceDaemon {
public:
    explicit ServiceDaemon(
        const TemporaryDirectory& directory, const ServiceConfig& config = {},
        const std::vector<std::pair<std::string, std::string>>& environment = {});

    static void write_config(const TemporaryDirectory& directory, const ServiceConfig& config);

    // Of what it logs.
    [[nodiscard]] bool wait_for_log(std::string_view text) {
        return process_.wait_for_output(text);
    }
    [[nodiscard]] bool wait_until_it_samples() { return wait_for_log("sampling at "); }
    // Until there are as many stored segments.
    [[nodiscard]] bool wait_for_segments(std::size_t count);
    // Until one that is stored from now on is so.
    [[nodiscard]] bool wait_for_segment(const std::function<bool(const ProfileText&)>& is_so);
    void send_signal(int signal) const { process_.send_signal(signal); }
    FinishedProcess wait() { return process_.wait(); }

private:
    const TemporaryDirectory& directory_;
    ChildProcess process_;
};

// `bobbin ctl` with these words.
FinishedProcess ctl(const TemporaryDirectory& directory, std::vector<std::string> words);

// Files of stored segments, oldest first.
std::vector<std::filesystem::path> segment_files(const TemporaryDirectory& directory,
                                                 const std::string& store = "store");
// As `zstd -d` and `go tool pprof -raw` read it.
ProfileText read_segment(const std::filesystem::path& file, const TemporaryDirectory& directory);
std::vector<ProfileText> read_segments(const std::vector<std::filesystem::path>& files,
                                       const TemporaryDirectory& directory);
std::vector<ProfileText> read_segments(const TemporaryDirectory& directory);
std::uint64_t sample_count_of(const std::vector<ProfileText>& segments);

// The counters of all, summed.
std::map<std::string, std::uint64_t> accounts_of(const std::vector<ProfileText>& segments);
// Every tick is accounted for.
void expect_ticks_add_up(const std::vector<ProfileText>& segments);
// And every sample that was sent is in one of them.
void expect_accounts_agree(const std::vector<ProfileText>& segments);

}  // namespace bobbin::test
