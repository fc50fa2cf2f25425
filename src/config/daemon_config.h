// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/record_config.h"

namespace bobbin::config {

inline constexpr const char* kDefaultConfigPath = "/etc/bobbin/bobbin.toml";

// What bobbin.toml says, checked once and never changed again; bobbin.toml(5) describes each key.
// What the file leaves out has the value it has here, so an empty file is a good one.
struct DaemonConfig {
    struct Profile {
        std::uint32_t frequency_hz = 19;  // 19: prime, and a twentieth of a percent of a CPU
        std::vector<std::string> units;   // systemd units; none: the whole machine
        std::vector<std::string> comms;   // names of threads, or "na*"
        FrameScope scope = FrameScope::kUserAndKernel;
    };
    struct Store {
        std::string path = "/var/lib/bobbin";
        std::chrono::seconds segment = std::chrono::minutes{1};
        std::chrono::seconds retention = std::chrono::days{7};
        std::uint64_t max_bytes = 2ULL << 30;
    };
    enum class OverBudget { kReduceFrequency, kPause };
    struct Budget {
        double cpu_percent = 1.0;  // of one CPU, user space and the kernel's sampling together
        std::uint64_t memory_bytes = 512ULL << 20;  // resident and BPF maps together
        std::uint64_t unwind_memory_bytes = RecordConfig::kDefaultMaxUnwindMemoryBytes;
        OverBudget action = OverBudget::kReduceFrequency;
    };
    struct Symbols {
        bool names = true;  // false: addresses, which `bobbin` on another machine may name
        NameStyle style = NameStyle::kSimplified;
        bool debuginfod = false;
    };
    struct Http {
        // "unix:/run/bobbin/bobbin.sock", "127.0.0.1:7273", "[::1]:7273"; never another address
        // than this machine's own; "": none.
        std::string listen = "unix:/run/bobbin/bobbin.sock";
    };
    struct Export {
        enum class Kind { kPyroscope, kParca, kOtlp, kS3 };
        Kind kind = Kind::kPyroscope;
        std::string url;
        std::chrono::seconds interval = std::chrono::seconds{60};  // whole segments
        std::uint64_t queue_bytes = 64ULL << 20;                   // on disk, oldest dropped first
        std::string bearer_file;                                   // token in a file; "": none
        std::map<std::string, std::string> headers;                // X-Scope-OrgID, ...
        // S3: the bucket's region, and a file with "ACCESS_KEY:SECRET_KEY".
        std::string region = "us-east-1";
        std::string credentials_file;

        friend bool operator==(const Export&, const Export&) = default;
    };

    Profile profile;
    Store store;
    Budget budget;
    Symbols symbols;
    Http http;
    std::map<std::string, std::string> labels;  // of everything that is pushed; "%h": host's name
    std::vector<Export> exports;
};

// One mistake in a file: "bobbin.toml:3:1" and what is wrong there, with the nearest known key.
struct ConfigError {
    std::string place;  // path:line:column, or path alone
    std::string what;
    std::string why;
};

// Strict: a key that is not known, a value of another type or out of range is an error.
tl::expected<DaemonConfig, ConfigError> parse_daemon_config(std::string_view text,
                                                            const std::string& path);
// The file at `path`; a file that is missing is an error unless it is kDefaultConfigPath.
tl::expected<DaemonConfig, ConfigError> read_daemon_config(const std::string& path);

}  // namespace bobbin::config
