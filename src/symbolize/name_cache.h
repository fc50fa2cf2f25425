// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "symbolize/name_object.h"

namespace bobbin::symbolize {

// The file that names were found in. Its build id alone would not do: a hostile file can carry
// bash's, but not bash's inode number and time of change.
struct CachedFile {
    elf::BuildId build_id;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size_bytes = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
};
// nullopt: it has no build id, or its status cannot be had without waiting.
std::optional<CachedFile> identify(int fd, const elf::BuildId& build_id);

// Ascending addresses, each with its names.
struct KnownNames {
    std::vector<std::uint64_t> addresses;
    NamesOfEach names;

    [[nodiscard]] const std::vector<NamedFrame>* find(std::uint64_t address) const;
};
KnownNames merge(KnownNames a, KnownNames b);

// Names that earlier recordings found, on disk: one file an object, replaced as a whole. What is
// damaged, or was written by another build of bobbin, is as good as not there. Errors are not told:
// without a cache names take longer.
class NameCache {
public:
    static constexpr std::uint64_t kMaxBytes = 256ULL << 20;

    // $CACHE_DIRECTORY, which systemd sets; root's /var/cache/bobbin, also under sudo, because root
    // neither writes to nor believes what a user can change; else $XDG_CACHE_HOME/bobbin or
    // ~/.cache/bobbin.
    static std::string default_directory();
    // nullopt: the directory cannot be made, or others may write to it.
    static std::optional<NameCache> open(const std::string& directory,
                                         std::uint64_t max_bytes = kMaxBytes);

    [[nodiscard]] KnownNames find(const CachedFile& file) const;
    void store(const CachedFile& file, const KnownNames& known) const;
    // Removes what was not used for the longest time until the rest is no larger than allowed.
    void shrink() const;

private:
    NameCache(UniqueFd directory, std::string program, std::uint64_t max_bytes)
        : directory_(std::move(directory)), program_(std::move(program)), max_bytes_(max_bytes) {}

    UniqueFd directory_;
    std::string program_;  // build id of this program: other engines, other names
    std::uint64_t max_bytes_;
};

}  // namespace bobbin::symbolize
