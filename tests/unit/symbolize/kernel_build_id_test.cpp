// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_build_id.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>

#include "support/temporary_directory.h"

namespace bobbin::symbolize {
namespace {

using namespace std::string_literals;

// gABI chapter 5: sizes of owner and content, type, owner and content padded to 4 bytes.
const std::string kLinuxNote =
    "\6\0\0\0\5\0\0\0\1\1\0\0Linux\0\0\0"s
    "6.1.0\0\0\0"s;
const std::string kBuildIdNote =
    "\4\0\0\0\5\0\0\0\3\0\0\0GNU\0"s
    "\x01\xab\xcd\xef\x10\0\0\0"s;

std::string find(const std::string& notes) {
    return find_build_id(std::as_bytes(std::span(notes)));
}

TEST(FindBuildId, FindsItAmongOtherNotes) {
    EXPECT_EQ(find(kBuildIdNote), "01abcdef10");
    EXPECT_EQ(find(kLinuxNote + kBuildIdNote), "01abcdef10");
}

TEST(FindBuildId, IsEmptyWithoutOne) {
    EXPECT_EQ(find(""), "");
    EXPECT_EQ(find(kLinuxNote), "");
    const std::string of_another_owner = "\4\0\0\0\4\0\0\0\3\0\0\0Xen\0abcd"s;
    EXPECT_EQ(find(of_another_owner), "");
}

TEST(FindBuildId, StopsAtSizesThatLeaveTheNotes) {
    for (std::size_t size = 0; size < kBuildIdNote.size(); ++size) {
        EXPECT_EQ(find(kBuildIdNote.substr(0, size)), "") << size;
    }
    EXPECT_EQ(find("\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU\0"s), "");
}

TEST(KernelBuildId, ReadsThoseOfTheKernelAndOfItsModules) {
    const test::TemporaryDirectory sysfs;
    std::filesystem::create_directories(sysfs / "kernel");
    std::filesystem::create_directories(sysfs / "module/nf_tables/notes");
    test::put_file(sysfs / "kernel/notes", kLinuxNote + kBuildIdNote);
    test::put_file(sysfs / "module/nf_tables/notes/.note.gnu.build-id", kBuildIdNote);
    EXPECT_EQ(kernel_build_id("", sysfs.path()), "01abcdef10");
    EXPECT_EQ(kernel_build_id("[nf_tables]", sysfs.path()), "01abcdef10");
    EXPECT_EQ(kernel_build_id("[bpf]", sysfs.path()), "");
    EXPECT_EQ(kernel_build_id("[../module/nf_tables]", sysfs.path()), "");
}

}  // namespace
}  // namespace bobbin::symbolize
