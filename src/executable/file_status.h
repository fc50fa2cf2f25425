// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::executable {

// What stat says of a file, as the kernel remembers it: a file system that is served by a process
// (FUSE) or over a network is not asked again, since it may never answer.
struct FileStatus {
    std::uint64_t inode = 0;
    std::uint64_t size_bytes = 0;
    std::int64_t mtime_ns = 0;
    std::int64_t ctime_ns = 0;
    std::uint32_t device = 0;  // as the kernel writes it, 12 bits major and 20 minor
    bool has_name = false;     // some directory leads to it; false: deleted everywhere, or a memfd
    bool is_regular = false;
};

// Of an open file, also of one opened with O_PATH.
Result<FileStatus> status_of(int fd);

// Whether two of them speak of one file with the same contents.
bool is_same_file(const FileStatus& a, const FileStatus& b);

// How sure it is that a file is the one the kernel side announced. Size and mtime have to agree.
// stat shows another device than the inode's own on overlayfs and btrfs; where it shows the same
// one, the inode numbers decide.
enum class KeyMatch : std::uint8_t {
    kNo,
    kBySizeAndTime,
    kByInode,  // also when only the number agrees: overlayfs hands it on from the layer below
    kByDeviceAndInode,
};
KeyMatch match(const abi::file_key& key, const FileStatus& status);

// For opening whatever a name stands for without having an effect on it: to open a device may
// rewind a tape, to open a FIFO may wait, and a FUSE server may not answer. What it gives says what
// the file is, and `open_contents` opens that very file.
int open_place(const char* path);
// The same, but only as far as the kernel knows the way by heart: it never waits for a disk or a
// server (RESOLVE_CACHED, Linux 5.12; before, it may). EAGAIN: it would have to. `root` is a
// directory that paths cannot lead out of, or AT_FDCWD.
int open_place_cached(int root, const char* path);
Result<int> open_contents(int place_fd);

// The name of an open file as the kernel knows it now, without "(deleted)".
std::string name_of(int fd, const FileStatus& status);

}  // namespace bobbin::executable
