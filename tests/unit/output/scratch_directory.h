// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace bobbin::test {

// A fresh empty directory, gone with everything in it at the end of the object's life.
class ScratchDirectory {
public:
    ScratchDirectory() {
        std::string name = testing::TempDir() + "bobbin-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << name;
        path_ = name;
    }
    ~ScratchDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    [[nodiscard]] std::string operator/(std::string_view name) const { return path_ / name; }
    [[nodiscard]] std::string path() const { return path_; }

private:
    std::filesystem::path path_;
};

inline void put_file(const std::string& path, std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
}

inline std::string file_content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace bobbin::test
