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

// What others may write could take the worker over, and what it says of later files would stay in
// the cache.
void ExecutableNamer::end_worker_after(int fd) {
    struct stat status{};
    const bool is_ours =
        ::fstat(fd, &status) == 0 && (status.st_uid == 0 || status.st_uid == ::geteuid());
    if (!is_ours) worker_.end();
}

ExecutableNamer::Found ExecutableNamer::ask_worker(int fd, const std::string& path,
                                                   std::span<const std::uint64_t> addresses) {
    ObjectRequest request{.path = path,
                          .addresses = {addresses.begin(), addresses.end()},
                          .detail = SymbolDetail::kInlines,
                          .time_limit = patience_ * kEnginePercent / 100,
                          .debug_directories = DwarfOptions().debug_directories};
    const auto started = std::chrono::steady_clock::now();
    auto answer = worker_.name(fd, request, patience_);
    if (cache_) end_worker_after(fd);
    if (answer.names) {
        note(answer.names->quality, path);
        return {.names = std::move(answer.names->names),
                .is_complete = is_complete(answer.names->quality)};
    }
    if (answer.worker_was_lost) {
        const auto patience_had = patience_;
        if (std::chrono::steady_clock::now() - started >= patience_) lose_patience();
        request.detail = SymbolDetail::kNames;
        auto second = worker_.name(fd, request, patience_had * kSecondLookPercent / 100);
        if (cache_) end_worker_after(fd);
        if (second.names) {
            note(NameLoss::kAllButNames, path, answer.reason);
            return {.names = std::move(second.names->names)};
        }
    }
    note(NameLoss::kNames, path, answer.reason);
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
    return name(fd->get(), executable.path, executable.build_id, addresses);
}

NamesOfEach ExecutableNamer::name(int fd, const std::string& path, const elf::BuildId& build_id,
                                  std::span<const std::uint64_t> addresses) {
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

void ExecutableNamer::finish() {
    worker_.end();
    if (cache_ && cache_has_grown_) cache_->shrink();
}

}  // namespace bobbin::symbolize
