// SPDX-License-Identifier: Apache-2.0
#include "config/debuginfod_urls.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace bobbin::config {
namespace {

void append_word(std::string& words, const std::string& word) {
    if (!words.empty()) words += ' ';
    words += word;
}

}  // namespace

std::string find_debuginfod_urls(const std::string& directory) {
    const char* const variable = std::getenv("DEBUGINFOD_URLS");
    if (variable != nullptr && *variable != '\0') return variable;
    std::error_code error;
    std::set<std::filesystem::path> files;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() == ".urls") files.insert(entry->path());
    }
    std::string urls;
    for (const auto& file : files) {
        std::ifstream text(file);
        for (std::string word; text >> word;) append_word(urls, word);
    }
    return urls;
}

}  // namespace bobbin::config
