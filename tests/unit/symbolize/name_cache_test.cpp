// SPDX-License-Identifier: Apache-2.0
#include "symbolize/name_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "unit/symbolize/built_program.h"

namespace bobbin::symbolize {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

CachedFile a_file(std::uint64_t inode = 17) {
    return {.build_id = elf::BuildId(20, std::byte{0xab}),
            .device = 8,
            .inode = inode,
            .size_bytes = 4096,
            .modified_ns = 5,
            .changed_ns = 6};
}

KnownNames two_functions() {
    return {.addresses = {0x1000, 0x2000},
            .names = {{{"inlined", "/src/a.h", 3, {}}, {"outer", "/src/a.c", 9, {}}}, {}}};
}

class NameCacheTest : public testing::Test {
protected:
    NameCache open(std::uint64_t max_bytes = NameCache::kMaxBytes) {
        auto cache = NameCache::open(path(), max_bytes);
        EXPECT_TRUE(cache);
        return std::move(*cache);
    }
    [[nodiscard]] std::string path() const { return directory_ / "cache"; }
    [[nodiscard]] std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(path())) found.push_back(entry.path());
        return found;
    }

    test::TemporaryDirectory directory_;
};

TEST_F(NameCacheTest, GivesWhatWasStored) {
    open().store(a_file(), two_functions());
    const KnownNames known = open().find(a_file());
    ASSERT_THAT(known.addresses, ElementsAre(0x1000, 0x2000));
    ASSERT_EQ(known.names[0].size(), 2U);
    EXPECT_EQ(known.names[0][0].system_name, "inlined");
    EXPECT_EQ(known.names[0][0].file, "/src/a.h");
    EXPECT_EQ(known.names[0][0].line, 3U);
    EXPECT_EQ(known.names[0][1].system_name, "outer");
    EXPECT_THAT(known.names[1], IsEmpty());
}

TEST_F(NameCacheTest, KnowsNothingOfFilesThatDifferInAnything) {
    const NameCache cache = open();
    cache.store(a_file(), two_functions());
    std::vector<CachedFile> others(6, a_file());
    others[0].build_id.back() = std::byte{0};
    others[1].device = 9;
    others[2].inode = 18;
    others[3].size_bytes = 4097;
    others[4].modified_ns = 7;
    others[5].changed_ns = 7;
    for (const CachedFile& other : others) EXPECT_THAT(cache.find(other).addresses, IsEmpty());
}

// Each byte once, and each length.
TEST_F(NameCacheTest, IgnoresDamagedFilesAndReplacesThem) {
    const NameCache cache = open();
    cache.store(a_file(), two_functions());
    ASSERT_EQ(files().size(), 1U);
    const fs::path file = files().front();
    std::ifstream in(file, std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto write = [&](const std::string& bytes) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    };
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string damaged = good;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        write(damaged);
        EXPECT_THAT(cache.find(a_file()).addresses, IsEmpty()) << "byte " << i;
        write(good.substr(0, i));
        EXPECT_THAT(cache.find(a_file()).addresses, IsEmpty()) << i << " bytes";
    }
    cache.store(a_file(), two_functions());
    EXPECT_EQ(cache.find(a_file()).addresses.size(), 2U);
    EXPECT_EQ(files().size(), 1U) << "no temporary file is left";
}

TEST_F(NameCacheTest, RemovesWhatWasNotUsedForTheLongestTime) {
    const NameCache cache = open();
    for (const std::uint64_t inode : {1, 2, 3}) cache.store(a_file(inode), two_functions());
    const std::uint64_t one_size = fs::file_size(files().front());
    const auto now = fs::file_time_type::clock::now();
    for (const fs::path& file : files()) fs::last_write_time(file, now - std::chrono::hours(2));
    EXPECT_EQ(cache.find(a_file(2)).addresses.size(), 2U) << "that is a use";
    open(one_size * 3 / 2).shrink();
    EXPECT_THAT(cache.find(a_file(1)).addresses, IsEmpty());
    EXPECT_EQ(cache.find(a_file(2)).addresses.size(), 2U);
    EXPECT_THAT(cache.find(a_file(3)).addresses, IsEmpty());
}

TEST_F(NameCacheTest, LeavesFilesOfOthersAlone) {
    const NameCache cache = open(0);
    std::ofstream(path() + "/letter.txt") << "dear reader";
    cache.shrink();
    EXPECT_TRUE(fs::exists(path() + "/letter.txt"));
}

// Who may write there may choose names.
TEST_F(NameCacheTest, DoesNotUseADirectoryThatOthersMayWriteTo) {
    ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
    ASSERT_EQ(::chmod(path().c_str(), 0777), 0);
    EXPECT_FALSE(NameCache::open(path()));
    const std::string link = directory_ / "link";
    fs::create_symlink("/tmp", link);
    EXPECT_FALSE(NameCache::open(link));
}

TEST_F(NameCacheTest, MakesADirectoryForItsUserAlone) {
    open();
    struct stat status{};
    ASSERT_EQ(::stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST(Merge, KeepsTheOrderOfAddresses) {
    KnownNames a{.addresses = {1, 5}, .names = {{{"one", {}, 0, {}}}, {{"five", {}, 0, {}}}}};
    KnownNames b{.addresses = {3, 9}, .names = {{{"three", {}, 0, {}}}, {{"nine", {}, 0, {}}}}};
    const KnownNames both = merge(a, b);
    ASSERT_THAT(both.addresses, ElementsAre(1, 3, 5, 9));
    ASSERT_NE(both.find(3), nullptr);
    EXPECT_EQ(both.find(3)->front().system_name, "three");
    EXPECT_EQ(both.find(4), nullptr);
}

// A copy has the build id, and the times if somebody wants it to.
TEST(Identify, TellsACopyFromItsOriginal) {
    const test::BuiltProgram program("int main(void) { return 0; }\n", "a.c", "-O0");
    const std::string copy = program.path() + ".copy";
    test::output_of("cp -p '" + program.path() + "' '" + copy + "'");
    const elf::BuildId build_id(20, std::byte{1});
    const UniqueFd original_fd = program.open();
    const UniqueFd copy_fd(::open(copy.c_str(), O_RDONLY | O_CLOEXEC));
    const auto original = identify(original_fd.get(), build_id);
    const auto copied = identify(copy_fd.get(), build_id);
    ASSERT_TRUE(original && copied);
    EXPECT_EQ(original->size_bytes, copied->size_bytes);
    EXPECT_EQ(original->modified_ns, copied->modified_ns);
    EXPECT_NE(original->inode, copied->inode);
    EXPECT_FALSE(identify(original_fd.get(), {})) << "without a build id";
}

}  // namespace
}  // namespace bobbin::symbolize
