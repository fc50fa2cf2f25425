// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "support/output_of.h"
#include "support/temporary_directory.h"

namespace bobbin::test {

// A line of `nm -S` with a size: what binutils says of a symbol.
struct NmSymbol {
    std::uint64_t vaddr = 0;
    std::uint64_t size_bytes = 0;  // 0: not stated
    char type = 0;
    std::string name;  // without @version
};

// `nm OPTIONS -S --defined-only PATH`, text symbols only.
inline std::vector<NmSymbol> read_nm(const std::string& path, const std::string& options = "") {
    std::istringstream lines(output_of("nm " + options + " -S --defined-only '" + path + "'"));
    std::vector<NmSymbol> symbols;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::vector<std::string> word;
        for (std::string text; words >> text;) word.push_back(text);
        if (word.size() != 3 && word.size() != 4) continue;
        const std::string& type = word[word.size() - 2];
        if (type.find_first_of("tTwWi") != 0) continue;
        const std::uint64_t size = word.size() == 4 ? std::stoull(word[1], nullptr, 16) : 0;
        symbols.push_back({std::stoull(word[0], nullptr, 16), size, type[0],
                           word.back().substr(0, word.back().find('@'))});
    }
    return symbols;
}

inline NmSymbol find_nm(const std::string& path, const std::string& name) {
    for (const NmSymbol& symbol : read_nm(path)) {
        if (symbol.name == name) return symbol;
    }
    ADD_FAILURE() << "nm shows no " << name << " in " << path;
    return {};
}

// A program that the system's compiler made of `source`.
class BuiltProgram {
public:
    BuiltProgram(const std::string& source, const std::string& source_name,
                 const std::string& options) {
        put_file(directory_ / source_name, source);
        const std::string command = "cd '" + directory_.path().string() + "' && cc " + options +
                                    " -o program " + source_name + " 2>&1";
        const std::string messages = output_of(command + " && echo built");
        EXPECT_TRUE(messages.ends_with("built\n")) << messages;
    }

    [[nodiscard]] std::string path() const { return directory_ / "program"; }
    [[nodiscard]] UniqueFd open() const {
        return UniqueFd(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
    }

private:
    TemporaryDirectory directory_;
};

}  // namespace bobbin::test
