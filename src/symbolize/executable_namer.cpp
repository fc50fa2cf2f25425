// SPDX-License-Identifier: Apache-2.0
#include "symbolize/executable_namer.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bobbin::symbolize {
namespace {

// Of the patience with a file. The engine looks at the clock itself and then does without lines:
// better than losing all of them.
constexpr int kEnginePercent = 75;
// A second look, at symbols alone.
constexpr int kSecondLookPercent = 33;

constexpr std::chrono::milliseconds kLeastPatience{250};

// Of one file, which then begins anew: all of them are read for any.
constexpr std::size_t kMaxKnownAddresses = std::size_t{1} << 18;

// In the place of a directory; no path of a file begins so.
constexpr const char* kDownloads = "debuginfod:";

bool belongs_to_us(int fd) {
    struct stat status{};
    return ::fstat(fd, &status) == 0 && (status.st_uid == 0 || status.st_uid == ::geteuid());
}

// Debug files may be installed tomorrow: what was named without any is not worth keeping.
bool is_complete(const DwarfQuality& quality) {
    return quality.has_debug_info && !quality.lacks_supplementary_file &&
           quality.missing_split_units == 0 && !quality.is_out_of_time;
}

std::vector<std::uint64_t> find_unknown(const KnownNames& known,
                                        std::span<const std::uint64_t> addresses) {
    std::vector<std::uint64_t> unknown;
    for (const std::uint64_t address : addresses) {
        const bool is_new = unknown.empty() || unknown.back() != address;
        if (is_new && known.find(address) == nullptr) unknown.push_back(address);
    }
    return unknown;
}

std::string describe(NameLoss loss, const LossOfKind& lost) {
    switch (loss) {
        case NameLoss::kNames:
            return "no names: " + lost.reason;
        case NameLoss::kAllButNames:
            return "no lines and no inlined functions: " + lost.reason;
        case NameLoss::kOutOfTime:
            return "some lines and inlined functions are missing: reading them took too long";
        case NameLoss::kSplitUnits:
            return fmt::format("lines and inlined functions of {} units are missing: no .dwo files",
                               lost.reason);
        case NameLoss::kSupplementary:
            return "some inlined functions have no names: the file of .gnu_debugaltlink is missing";
        case NameLoss::kDownloads:
            return "no debugging information from debuginfod: " + lost.reason;
        case NameLoss::kDemangling:
            return "names stay as in the symbol table: " + lost.reason;
    }
    return {};
}

}  // namespace

std::vector<std::string> describe(const NameLosses& losses) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const LossOfKind& lost = losses.at(i);
        if (lost.file_count == 0) continue;
        std::string line = lost.path + ": " + describe(static_cast<NameLoss>(i), lost);
        if (lost.file_count > 1) {
            line += fmt::format("; likewise {} more {}", lost.file_count - 1,
                                lost.file_count == 2 ? "file" : "files");
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

void ExecutableNamer::note(NameLoss loss, const std::string& path, const std::string& reason) {
    LossOfKind& lost = losses_.at(static_cast<std::size_t>(loss));
    if (lost.file_count++ == 0) {
        lost.path = path;
        lost.reason = reason;
    }
}

void ExecutableNamer::note(const DwarfQuality& quality, const std::string& path) {
    if (quality.is_out_of_time) note(NameLoss::kOutOfTime, path);
    if (quality.lacks_supplementary_file) note(NameLoss::kSupplementary, path);
    if (quality.missing_split_units != 0) {
        note(NameLoss::kSplitUnits, path, std::to_string(quality.missing_split_units));
    }
}

void ExecutableNamer::download_for(std::vector<std::uint32_t> executable_ids,
                                   FetchOptions options) {
    fetcher_.emplace(std::move(options));
    downloadable_ids_ = std::move(executable_ids);
    worker_.open_files_by([this](const std::string& path) { return open_file(path); });
}

FoundFile ExecutableNamer::open_file(const std::string& path) {
    const bool is_download =
        !wanted_build_id_.empty() && path == build_id_path(kDownloads, wanted_build_id_);
    if (!is_download) return open_object_file(path);
    const std::size_t failures = fetcher_->failure_count();
    FoundFile found{.fd = fetcher_->fetch(wanted_build_id_), .directory = kDownloads};
    if (fetcher_->failure_count() != failures) {
        note(NameLoss::kDownloads, object_path_, fetcher_->last_failure());
    }
    return found;
}

// What others may write could take the worker over, and what it says of later files would stay in
// the cache.
void ExecutableNamer::begin_object(const std::string& path, bool is_ours) {
    if (cache_ && worker_is_suspect_) worker_.end();
    worker_is_suspect_ = !is_ours;
    object_path_ = path;
}

ExecutableNamer::Found ExecutableNamer::ask_worker(int fd, const std::string& path,
                                                   std::span<const std::uint64_t> addresses) {
    ObjectRequest request{.path = path,
                          .addresses = {addresses.begin(), addresses.end()},
                          .detail = SymbolDetail::kInlines,
                          .time_limit = patience_ * kEnginePercent / 100,
                          .debug_directories = DwarfOptions().debug_directories,
                          .downloads = wanted_build_id_.empty() ? "" : kDownloads};
    const auto started = std::chrono::steady_clock::now();
    const std::chrono::milliseconds for_download =
        request.downloads.empty() ? std::chrono::seconds{0} : DebugFileFetcher::kPatienceWithFile;
    auto answer = worker_.name(fd, request, patience_ + for_download);
    if (answer.names) {
        note(answer.names->quality, path);
        return {.names = std::move(answer.names->names),
                .is_complete = is_complete(answer.names->quality)};
    }
    if (answer.loss.worker_was_lost) {
        const auto patience_had = patience_;
        if (std::chrono::steady_clock::now() - started >= patience_) lose_patience();
        request.detail = SymbolDetail::kNames;
        request.downloads.clear();
        auto second = worker_.name(fd, request, patience_had * kSecondLookPercent / 100);
        if (second.names) {
            note(NameLoss::kAllButNames, path, answer.loss.reason);
            return {.names = std::move(second.names->names)};
        }
    }
    note(NameLoss::kNames, path, answer.loss.reason);
    return {};
}

void ExecutableNamer::lose_patience() {
    patience_ = std::max(patience_ / 2, std::min(patience_, kLeastPatience));
}

NamesOfEach ExecutableNamer::name(const executable::Executable& executable,
                                  std::span<const std::uint64_t> addresses) {
    const auto fd = executable.file->open_for_reading();
    if (!fd) {
        note(NameLoss::kNames, executable.path, fd.error().message());
        return {};
    }
    const bool may_fetch = fetcher_ && std::ranges::binary_search(downloadable_ids_, executable.id);
    if (may_fetch) wanted_build_id_ = executable.build_id;
    NamesOfEach names = name(fd->get(), executable.path, executable.build_id, addresses);
    wanted_build_id_.clear();
    return names;
}

NamesOfEach ExecutableNamer::name(int fd, const std::string& path, const elf::BuildId& build_id,
                                  std::span<const std::uint64_t> addresses) {
    begin_object(path, belongs_to_us(fd));
    const auto file = cache_ ? identify(fd, build_id) : std::nullopt;
    if (!file) return ask_worker(fd, path, addresses).names;

    KnownNames known = cache_->find(*file);
    if (known.addresses.size() > kMaxKnownAddresses) known = {};
    KnownNames added{.addresses = find_unknown(known, addresses), .names = {}};
    if (!added.addresses.empty()) {
        Found found = ask_worker(fd, path, added.addresses);
        added.names = std::move(found.names);
        added.names.resize(added.addresses.size());
        known = merge(std::move(known), std::move(added));
        if (found.is_complete) {
            cache_->store(*file, known);
            cache_has_grown_ = true;
        }
    }
    NamesOfEach names;
    names.reserve(addresses.size());
    for (const std::uint64_t address : addresses) names.push_back(*known.find(address));
    return names;
}

std::vector<NamedFrame> ExecutableNamer::read_code_map(int fd, CodeMapKind kind,
                                                       std::span<const std::uint64_t> addresses) {
    const auto now = std::chrono::steady_clock::now();
    if (!generated_deadline_) generated_deadline_ = now + kPatienceWithGenerated;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*generated_deadline_ - now);
    begin_object("generated code", false);
    if (left.count() <= 0) return {};
    const CodeMapRequest request{.kind = kind, .addresses = {addresses.begin(), addresses.end()}};
    auto answer = worker_.name_generated(fd, request, left);
    if (!answer.names) {
        note(NameLoss::kNames, object_path_, answer.loss.reason);
        return {};
    }
    std::vector<NamedFrame> frames;
    for (std::vector<NamedFrame>& of_address : answer.names->names) {
        frames.push_back(of_address.empty() ? NamedFrame() : std::move(of_address.front()));
    }
    return frames;
}

std::vector<std::string> ExecutableNamer::demangle(std::span<const std::string> system_names) {
    if (style_ == DemangleStyle::kNone) return {};
    const DemangleRequest request{.style = style_,
                                  .system_names = {system_names.begin(), system_names.end()}};
    auto names = worker_.demangle(request, patience_);
    if (names) return std::move(*names);
    note(NameLoss::kDemangling, object_path_, names.error().reason);
    return {};
}

void ExecutableNamer::finish() {
    worker_.end();
    if (cache_ && cache_has_grown_) cache_->shrink();
}

}  // namespace bobbin::symbolize
