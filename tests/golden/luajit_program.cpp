// SPDX-License-Identifier: Apache-2.0
#include "golden/luajit_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include "cfi/eh_frame.h"
#include "elf/file_bytes.h"
#include "luajit/find_vm.h"
#include "support/output_of.h"

namespace bobbin::test {
namespace {

elf::ElfFile open_elf(const std::string& path, int fd) {
    auto file = elf::ElfFile::open(fd);
    EXPECT_TRUE(file) << path;
    return std::move(file).value();
}

cfi::UnwindRows read_rows(const elf::ElfFile& file) {
    const auto section = file.read_eh_frame();
    EXPECT_TRUE(section && *section);
    auto frame = cfi::read_eh_frame((*section)->bytes, (*section)->file_vaddr);
    EXPECT_TRUE(frame);
    return std::move(frame).value().unwind;
}

}  // namespace

LuajitProgram::LuajitProgram(std::string path)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)),
      file_(open_elf(path_, fd_.get())),
      rows_(read_rows(file_)) {}

luajit::VmLayout LuajitProgram::layout(const cfi::UnwindRows& rows) const {
    const auto bytes = elf::FileBytes::of_fd(fd_.get());
    const auto found = luajit::find_vm(*bytes, file_.load_segments(), rows);
    EXPECT_TRUE(found) << path_ << ": " << found.error().message();
    EXPECT_TRUE(found && *found) << path_;
    return found && *found ? **found : luajit::VmLayout{};
}

std::map<std::string, std::uint64_t> list_symbols(const std::string& path) {
    std::map<std::string, std::uint64_t> symbols;
    std::istringstream lines(output_of("nm --defined-only '" + path + "'"));
    for (std::string address, type, name; lines >> address >> type >> name;) {
        symbols.emplace(name, std::stoull(address, nullptr, 16));
    }
    return symbols;
}

std::string luajit_of_debian() { return std::filesystem::canonical(BOBBIN_LUAJIT); }
std::string library_of_debian() {
    return std::filesystem::canonical("/usr/lib/x86_64-linux-gnu/libluajit-5.1.so.2");
}
std::string openresty_of_debian() {
    return std::filesystem::canonical(BOBBIN_PACKAGES_DIR
                                      "/libluajit2-5.1-2/usr/lib/x86_64-linux-gnu/"
                                      "libluajit-5.1.so.2");
}
std::string tarantool_of_debian() { return BOBBIN_PACKAGES_DIR "/tarantool/usr/bin/tarantool"; }

}  // namespace bobbin::test
