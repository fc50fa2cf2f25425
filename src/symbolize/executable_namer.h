// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executable/executable.h"
#include "symbolize/debug_file_fetcher.h"
#include "symbolize/demangle.h"
#include "symbolize/name_cache.h"
#include "symbolize/name_generated.h"
#include "symbolize/object_worker.h"

namespace bobbin::symbolize {

// What names of a recording had to do without.
enum class NameLoss {
    kNames,          // of a whole file
    kAllButNames,    // lines and inlined functions of a whole file
    kOutOfTime,      // some of these
    kSplitUnits,     // .dwo files
    kSupplementary,  // the file of dwz
    kDownloads,      // debug files from servers
    kDemangling,     // names stay as in the symbol table
};
inline constexpr std::size_t kNameLossCount = 7;

// By kind: how many files, and for an example the first of them.
struct LossOfKind {
    std::size_t file_count = 0;
    std::string path;
    std::string reason;
};
using NameLosses = std::array<LossOfKind, kNameLossCount>;

// At most one line each kind, with the texts of files as they are: foreign.
std::vector<std::string> describe(const NameLosses& losses);

// Names executables and generated code in a process without rights. One that cannot stand a file
// costs that file's inlined functions and lines; where not even its symbols can be read, its names.
class ExecutableNamer {
public:
    // With the first file. Each that takes all of it leaves half of it for the next ones, so that a
    // hundred malicious files keep nobody waiting for an hour.
    static constexpr std::chrono::milliseconds kPatience{30'000};
    // With all perf maps and jitdumps. The largest there may be takes about a second to read, but
    // its file system may be that of a container's user and never answer.
    static constexpr std::chrono::seconds kPatienceWithGenerated{20};

    explicit ExecutableNamer(std::chrono::milliseconds patience = kPatience,
                             WorkerOptions worker = {})
        : patience_(patience), worker_(std::move(worker)) {}

    // Names are looked for there first; what is found is added, if nothing is missing from it.
    void use(std::optional<NameCache> cache) { cache_ = std::move(cache); }
    void demangle_as(DemangleStyle style) { style_ = style; }
    // Debug files that are not on this machine come from servers, for these executables (ascending
    // ids) alone.
    void download_for(std::vector<std::uint32_t> executable_ids, FetchOptions options);
    // Begins the patience with generated code anew, for who names again and again.
    void begin_round() { generated_deadline_.reset(); }
    // To be called when all is named: keeps the cache within its bounds.
    void finish();

    // As NameExecutable: file_vaddrs, ascending, to one list each, or none at all.
    NamesOfEach name(const executable::Executable& executable,
                     std::span<const std::uint64_t> addresses);

    // The same of a file that no process runs: the kernel's.
    NamesOfEach name(int fd, const std::string& path, const elf::BuildId& build_id,
                     std::span<const std::uint64_t> addresses);

    // As ReadCodeMap.
    std::vector<NamedFrame> read_code_map(int fd, CodeMapKind kind,
                                          std::span<const std::uint64_t> addresses);

    // As DemangleNames: names of the object that was named last.
    std::vector<std::string> demangle(std::span<const std::string> system_names);

    [[nodiscard]] const NameLosses& losses() const { return losses_; }
    [[nodiscard]] std::chrono::milliseconds patience() const { return patience_; }
    [[nodiscard]] ObjectWorker& worker() { return worker_; }

private:
    struct Found {
        NamesOfEach names;
        bool is_complete = false;  // no more could ever be said of these addresses
    };
    Found ask_worker(int fd, const std::string& path, std::span<const std::uint64_t> addresses);
    void begin_object(const std::string& path, bool is_ours);
    FoundFile open_file(const std::string& path);
    void lose_patience();
    void note(NameLoss loss, const std::string& path, const std::string& reason = {});
    void note(const DwarfQuality& quality, const std::string& path);

    std::chrono::milliseconds patience_;
    ObjectWorker worker_;
    DemangleStyle style_ = DemangleStyle::kSimplified;
    std::optional<DebugFileFetcher> fetcher_;
    std::vector<std::uint32_t> downloadable_ids_;
    elf::BuildId wanted_build_id_;  // of the executable in hand, if its debug file may be fetched
    std::string object_path_;       // of the object in hand
    bool worker_is_suspect_ = false;
    std::optional<std::chrono::steady_clock::time_point> generated_deadline_;
    std::optional<NameCache> cache_;
    bool cache_has_grown_ = false;
    NameLosses losses_;
};

}  // namespace bobbin::symbolize
