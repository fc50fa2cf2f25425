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
#include "symbolize/name_cache.h"
#include "symbolize/object_worker.h"

namespace bobbin::symbolize {

// What names of a recording had to do without.
enum class NameLoss {
    kNames,          // of a whole file
    kAllButNames,    // lines and inlined functions of a whole file
    kOutOfTime,      // some of these
    kSplitUnits,     // .dwo files
    kSupplementary,  // the file of dwz
};
inline constexpr std::size_t kNameLossCount = 5;

// By kind: how many files, and for an example the first of them.
struct LossOfKind {
    std::size_t file_count = 0;
    std::string path;
    std::string reason;
};
using NameLosses = std::array<LossOfKind, kNameLossCount>;

// At most one line each kind, with the texts of files as they are: foreign.
std::vector<std::string> describe(const NameLosses& losses);

// Names executables in a process without rights. One that cannot stand a file costs that file's
// inlined functions and lines; where not even its symbols can be read, its names.
class ExecutableNamer {
public:
    // With the first file. Each that takes all of it leaves half of it for the next ones, so that a
    // hundred malicious files keep nobody waiting for an hour.
    static constexpr std::chrono::milliseconds kPatience{30'000};

    explicit ExecutableNamer(std::chrono::milliseconds patience = kPatience,
                             WorkerOptions worker = {})
        : patience_(patience), worker_(std::move(worker)) {}

    // Names are looked for there first; what is found is added, if nothing is missing from it.
    void use(std::optional<NameCache> cache) { cache_ = std::move(cache); }
    // To be called when all is named: keeps the cache within its bounds.
    void finish();

    // As NameExecutable: file_vaddrs, ascending, to one list each, or none at all.
    NamesOfEach name(const executable::Executable& executable,
                     std::span<const std::uint64_t> addresses);

    // The same of a file that no process runs: the kernel's.
    NamesOfEach name(int fd, const std::string& path, const elf::BuildId& build_id,
                     std::span<const std::uint64_t> addresses);

    [[nodiscard]] const NameLosses& losses() const { return losses_; }
    [[nodiscard]] std::chrono::milliseconds patience() const { return patience_; }
    [[nodiscard]] ObjectWorker& worker() { return worker_; }

private:
    struct Found {
        NamesOfEach names;
        bool is_complete = false;  // no more could ever be said of these addresses
    };
    Found ask_worker(int fd, const std::string& path, std::span<const std::uint64_t> addresses);
    void end_worker_after(int fd);
    void lose_patience();
    void note(NameLoss loss, const std::string& path, const std::string& reason = {});
    void note(const DwarfQuality& quality, const std::string& path);

    std::chrono::milliseconds patience_;
    ObjectWorker worker_;
    std::optional<NameCache> cache_;
    bool cache_has_grown_ = false;
    NameLosses losses_;
};

}  // namespace bobbin::symbolize
