// SPDX-License-Identifier: Apache-2.0
#include "golden/cfi_system_binaries.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/unique_fd.h"
#include "elf/elf_file.h"

namespace bobbin::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array kWellKnown = {
    "/lib64/ld-linux-x86-64.so.2",               // written by hand in part
    "/usr/lib/x86_64-linux-gnu/libc.so.6",       // signal frame, vfork, clone, AVX
    "/usr/lib/x86_64-linux-gnu/libm.so.6",       //
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",  // personalities and LSDAs
    "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1",   //
    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",  // perlasm: *(rsp+o)+a
    "/usr/lib/x86_64-linux-gnu/libssl.so.3",     //
    "/usr/lib/x86_64-linux-gnu/libgmp.so.10",    // hand-written assembly
    "/usr/bin/bash",                             //
    "/usr/bin/perl",                             // a lazy PLT
    "/usr/bin/git",                              //
    "/usr/bin/gdb",                              //
    "/usr/bin/cmake",                            //
    "/usr/bin/python3.11",                       //
    "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",  // not position-independent
};
// libicudata, 30 MB of tables, has an .eh_frame of no functions.
constexpr std::size_t kMinEhFrameBytes = 1024;
constexpr std::array kFolders = {"/usr/bin", "/usr/sbin", "/usr/lib/x86_64-linux-gnu"};

UniqueFd open_file(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::optional<elf::SectionBytes> read_eh_frame_section(const std::string& path) {
    const UniqueFd fd = open_file(path);
    if (!fd.is_open()) return std::nullopt;
    const Result<elf::ElfFile> file = elf::ElfFile::open(fd.get());
    if (!file) return std::nullopt;
    Result<std::optional<elf::SectionBytes>> section = file->read_eh_frame();
    return section ? std::move(*section) : std::nullopt;
}

// Regular files by falling size; equal sizes by name, so that the choice is the same every time.
std::vector<std::string> list_largest_first() {
    std::vector<std::pair<std::uintmax_t, std::string>> files;
    for (const char* folder : kFolders) {
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
            if (entry.is_regular_file(error) && !entry.is_symlink(error)) {
                files.emplace_back(entry.file_size(error), entry.path());
            }
        }
    }
    std::ranges::sort(files, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<std::string> paths;
    for (auto& [size_bytes, path] : files) paths.push_back(std::move(path));
    return paths;
}

class Selection {
public:
    Selection(std::size_t count, std::uint64_t max_eh_frame_bytes)
        : count_(count), room_bytes_(max_eh_frame_bytes) {}

    void consider(const std::string& path, std::uint64_t max_eh_frame_bytes) {
        struct stat status{};
        if (::stat(path.c_str(), &status) != 0) return;
        if (!seen_.emplace(status.st_dev, status.st_ino).second) return;
        const std::optional<elf::SectionBytes> section = read_eh_frame_section(path);
        if (!section || section->bytes.size() < kMinEhFrameBytes) return;
        if (section->bytes.size() > max_eh_frame_bytes) return;
        room_bytes_ -= section->bytes.size();
        chosen_.push_back({path, section->bytes.size()});
    }
    [[nodiscard]] const std::vector<SystemBinary>& chosen() const { return chosen_; }
    [[nodiscard]] std::uint64_t room_bytes() const { return room_bytes_; }
    // What each of the missing ones may take.
    [[nodiscard]] std::uint64_t share_bytes() const {
        return room_bytes_ / (count_ - chosen_.size());
    }
    [[nodiscard]] bool complete() const { return chosen_.size() >= count_; }

private:
    std::size_t count_ = 0;
    std::uint64_t room_bytes_ = 0;
    std::set<std::pair<dev_t, ino_t>> seen_;
    std::vector<SystemBinary> chosen_;
};

}  // namespace

std::vector<SystemBinary> find_system_binaries(std::size_t count,
                                               std::uint64_t max_eh_frame_bytes) {
    Selection selection(count, max_eh_frame_bytes);
    for (const char* path : kWellKnown) selection.consider(path, selection.room_bytes());
    for (const std::string& path : list_largest_first()) {
        if (selection.complete()) break;
        selection.consider(path, selection.share_bytes());
    }
    return selection.chosen();
}

cfi::EhFrame read_rows(const std::string& path) {
    const std::optional<elf::SectionBytes> section = read_eh_frame_section(path);
    EXPECT_TRUE(section.has_value()) << path;
    if (!section) return {};
    Result<cfi::EhFrame> frame = cfi::read_eh_frame(section->bytes, section->file_vaddr);
    EXPECT_TRUE(frame.has_value()) << path << ": " << frame.error().message();
    return frame ? std::move(*frame) : cfi::EhFrame{};
}

cfi::EhFrame read_debug_rows(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const Result<elf::ElfFile> file = elf::ElfFile::open(fd.get());
    EXPECT_TRUE(file.has_value()) << path;
    if (!file) return {};
    const Result<std::optional<elf::SectionBytes>> section = file->read_debug_frame();
    EXPECT_TRUE(section && *section) << path;
    if (!section || !*section) return {};
    Result<cfi::EhFrame> frame = cfi::read_debug_frame((*section)->bytes);
    EXPECT_TRUE(frame.has_value()) << path << ": " << frame.error().message();
    return frame ? std::move(*frame) : cfi::EhFrame{};
}

}  // namespace bobbin::test
