// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

namespace bobbin::store::test {

// What others see of a store: `ls`, and the program sqlite3.

inline std::string output_of(const std::string& command) {
    FILE* pipe = ::popen(command.c_str(), "r");
    EXPECT_NE(pipe, nullptr) << command;
    if (pipe == nullptr) return {};
    std::string text;
    std::array<char, 4096> part{};
    for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
        text.append(part.data(), got);
    }
    EXPECT_EQ(::pclose(pipe), 0) << command;
    return text;
}

// "2026-11-22/103000.000.pb.zst 1234" of each file.
inline std::set<std::string> files_in(const std::filesystem::path& store) {
    std::set<std::string> files;
    const std::filesystem::path segments = store / "segments";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(segments)) {
        if (!entry.is_regular_file()) continue;
        files.insert(entry.path().lexically_relative(segments).string() + " " +
                     std::to_string(entry.file_size()));
    }
    return files;
}

// The same, as the index has it.
inline std::set<std::string> rows_in(const std::filesystem::path& store) {
    std::istringstream lines(output_of("sqlite3 -readonly " + (store / "index.db").string() +
                                       " \"SELECT file || ' ' || size_bytes FROM segment\""));
    std::set<std::string> rows;
    for (std::string line; std::getline(lines, line);) rows.insert(line);
    return rows;
}

inline std::string check_index(const std::filesystem::path& store) {
    return output_of("sqlite3 -readonly " + (store / "index.db").string() +
                     " 'PRAGMA integrity_check'");
}

}  // namespace bobbin::store::test
