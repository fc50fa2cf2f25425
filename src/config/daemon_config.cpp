// SPDX-License-Identifier: Apache-2.0
#include "config/daemon_config.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "config/service_address.h"
#include "config/toml_table.h"

namespace bobbin::config {
namespace {

using std::chrono::seconds;
using Export = DaemonConfig::Export;

// Much more than one writes by hand, and read whole.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

constexpr seconds kMaxSegment = std::chrono::hours{1};
constexpr seconds kMaxInterval = std::chrono::days{1};
constexpr seconds kMaxRetention = std::chrono::days{365};
constexpr std::uint64_t kMinDiskBytes = 1ULL << 20;

void read(TomlTable keys, DaemonConfig::Profile& to) {
    constexpr std::array kScopes{
        Choice<FrameScope>{"user-and-kernel", FrameScope::kUserAndKernel},
        Choice<FrameScope>{"user", FrameScope::kUserOnly},
        Choice<FrameScope>{"kernel", FrameScope::kKernelOnly},
    };
    keys.take_count("frequency", to.frequency_hz, RecordConfig::kMinFrequencyHz,
                    RecordConfig::kMaxFrequencyHz);
    keys.take_names("units", to.units);
    keys.take_names("comms", to.comms);
    keys.take_choice<FrameScope>("scope", to.scope, kScopes);
    keys.refuse_others();
}

void read(TomlTable keys, DaemonConfig::Store& to) {
    keys.take_path("path", to.path);
    keys.take_duration("segment", to.segment, seconds{1}, kMaxSegment);
    keys.take_duration("retention", to.retention, to.segment, kMaxRetention);
    keys.take_size("max_size", to.max_bytes, kMinDiskBytes);
    keys.refuse_others();
}

void read(TomlTable keys, DaemonConfig::Budget& to) {
    using OverBudget = DaemonConfig::OverBudget;
    constexpr std::array kActions{
        Choice<OverBudget>{"reduce-frequency", OverBudget::kReduceFrequency},
        Choice<OverBudget>{"pause", OverBudget::kPause},
    };
    constexpr double kOneCpu = 100;
    keys.take_number("cpu_percent", to.cpu_percent, kOneCpu);
    keys.take_size("memory", to.memory_bytes, RecordConfig::kMinMaxMemoryBytes);
    keys.take_size("unwind_memory", to.unwind_memory_bytes, RecordConfig::kMinMaxUnwindMemoryBytes);
    keys.take_choice<OverBudget>("action", to.action, kActions);
    keys.refuse_others();
}

void read(TomlTable keys, DaemonConfig::Symbols& to) {
    constexpr std::array kStyles{
        Choice<NameStyle>{"none", NameStyle::kMangled},
        Choice<NameStyle>{"simplified", NameStyle::kSimplified},
        Choice<NameStyle>{"full", NameStyle::kFull},
    };
    keys.take_flag("names", to.names);
    keys.take_choice<NameStyle>("demangle", to.style, kStyles);
    keys.take_flag("debuginfod", to.debuginfod);
    keys.refuse_others();
}

void read(TomlTable keys, DaemonConfig::Http& to) {
    keys.take_text("listen", to.listen);
    const std::string_view problem = problem_of_listen(to.listen);
    if (!problem.empty()) keys.refuse("listen", problem);
    keys.refuse_others();
}

// Whole segments: what is sent is what is stored.
void read_interval(TomlTable& keys, seconds segment, seconds& to) {
    to = segment * ((to + segment - seconds{1}) / segment);
    keys.take_duration("interval", to, segment, kMaxInterval);
    if (to % segment != seconds{0}) {
        keys.refuse("interval", fmt::format("it takes a multiple of store.segment, which is {}s",
                                            segment.count()));
    }
}

void read(TomlTable keys, seconds segment, Export& to) {
    constexpr std::array kKinds{
        Choice<Export::Kind>{"pyroscope", Export::Kind::kPyroscope},
        Choice<Export::Kind>{"parca", Export::Kind::kParca},
        Choice<Export::Kind>{"otlp", Export::Kind::kOtlp},
        Choice<Export::Kind>{"s3", Export::Kind::kS3},
    };
    keys.require("type", "it is one of pyroscope, parca, otlp, s3");
    keys.take_choice<Export::Kind>("type", to.kind, kKinds);
    const bool is_s3 = to.kind == Export::Kind::kS3;
    keys.require("url", "it says where profiles are sent to");
    keys.take_text("url", to.url);
    const std::string_view problem = problem_of_url(to.url, is_s3);
    if (keys.has("url") && !problem.empty()) keys.refuse("url", problem);
    read_interval(keys, segment, to.interval);
    keys.take_size("queue", to.queue_bytes, kMinDiskBytes);
    keys.take_path("bearer_file", to.bearer_file);
    keys.take_table("headers").take_all_texts(to.headers, problem_of_header);
    if (is_s3) {
        keys.take_text("region", to.region);
        keys.take_path("credentials_file", to.credentials_file);
    }
    keys.refuse_others();
}

DaemonConfig read(TomlTable keys) {
    DaemonConfig config;
    read(keys.take_table("profile"), config.profile);
    read(keys.take_table("store"), config.store);
    read(keys.take_table("budget"), config.budget);
    read(keys.take_table("symbols"), config.symbols);
    read(keys.take_table("http"), config.http);
    keys.take_table("labels").take_all_texts(config.labels, problem_of_label);
    for (TomlTable& table : keys.take_tables("export")) {
        read(std::move(table), config.store.segment, config.exports.emplace_back());
    }
    keys.refuse_others();
    return config;
}

}  // namespace

tl::expected<DaemonConfig, ConfigError> parse_daemon_config(std::string_view text,
                                                            const std::string& path) {
    FirstMistake mistake;
    DaemonConfig config;
    // toml++ as Debian builds it throws.
    try {
        const toml::table file = toml::parse(text);
        config = read(TomlTable(&file, "", mistake));
    } catch (const toml::parse_error& error) {
        mistake.note(error.source().begin, "this is not TOML", std::string(error.description()));
    }
    if (mistake.is_noted()) return tl::unexpected(mistake.in(path));
    return config;
}

tl::expected<DaemonConfig, ConfigError> read_daemon_config(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        if (errno == ENOENT && path == kDefaultConfigPath) return DaemonConfig{};
        return tl::unexpected(ConfigError{path, "cannot be opened", std::strerror(errno)});
    }
    std::string text(kMaxFileBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad())
        return tl::unexpected(ConfigError{path, "cannot be read", std::strerror(errno)});
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) {
        return tl::unexpected(ConfigError{path, "is too large", "it may have 1 MiB"});
    }
    return parse_daemon_config(text, path);
}

}  // namespace bobbin::config
