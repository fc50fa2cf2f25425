// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> list_corpus() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(BOBBIN_CORPUS)) {
        paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    return paths;
}

// Exactly as long as the file, so that AddressSanitizer sees a read of one byte too many.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    bytes.shrink_to_fit();
    return bytes;
}

TEST(Corpus, RunsThroughWithoutACrashOrABrokenPromise) {
    constexpr std::size_t kFewest = 20;
    const std::vector<std::filesystem::path> paths = list_corpus();
    ASSERT_GE(paths.size(), kFewest) << BOBBIN_CORPUS;
    for (const std::filesystem::path& path : paths) {
        SCOPED_TRACE(path);
        const std::vector<std::uint8_t> bytes = read_file(path);
        EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
    }
}

TEST(Corpus, RunsThroughEveryTruncationOfItsFiles) {
    for (const std::filesystem::path& path : list_corpus()) {
        SCOPED_TRACE(path);
        std::vector<std::uint8_t> bytes = read_file(path);
        while (!bytes.empty()) {
            bytes.pop_back();
            bytes.shrink_to_fit();
            EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
        }
    }
}

}  // namespace
