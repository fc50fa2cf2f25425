// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "golden/dwarf_llvm_frames.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "symbolize/dwarf_symbolizer.h"

namespace bobbin {
namespace {

using symbolize::NamedFrame;
using test::OracleFrame;

// A way to build ./program in the current directory. $src, $clang and the like are set.
struct Build {
    const char* name;
    const char* script;
    // Where LLVM looks: it takes lines from a separate file, but not its symbols.
    const char* oracle = "program";

    friend std::ostream& operator<<(std::ostream& out, const Build& build) {
        return out << build.script;
    }
};

constexpr Build kBuilds[] = {
    {"Gcc", "g++ -std=c++20 -O2 -g $src/main.cpp $src/shapes.cpp -o program"},
    {"GccVersion4", "g++ -std=c++20 -O2 -g -gdwarf-4 $src/main.cpp $src/shapes.cpp -o program"},
    {"GccVersion3",
     "g++ -std=c++20 -O2 -g -gdwarf-3 -gstrict-dwarf $src/main.cpp $src/shapes.cpp -o program"},
    {"Gcc64Bit",
     "g++ -std=c++20 -O2 -g -gdwarf64 -c $src/shapes.cpp && "
     "g++ -std=c++20 -O2 -g -gdwarf64 -c $src/main.cpp && g++ *.o -o program"},
    {"GccNotOptimized", "g++ -std=c++20 -O0 -g $src/main.cpp $src/shapes.cpp -o program"},
    {"GccLinkTimeOptimized",
     "g++ -std=c++20 -O2 -g -flto $src/main.cpp $src/shapes.cpp -o program"},
    {"GccSections",
     "g++ -std=c++20 -O2 -g -ffunction-sections -Wl,--gc-sections $src/main.cpp "
     "$src/shapes.cpp -o program"},
    {"GccZlib", "g++ -std=c++20 -O2 -g -gz=zlib $src/main.cpp $src/shapes.cpp -o program"},
    {"GccSplit",
     "g++ -std=c++20 -O2 -g -gsplit-dwarf -c $src/main.cpp && "
     "g++ -std=c++20 -O2 -g -gsplit-dwarf -c $src/shapes.cpp && g++ *.o -o program"},
    {"GccSplitVersion4",
     "g++ -std=c++20 -O2 -g -gdwarf-4 -gsplit-dwarf -c $src/main.cpp && "
     "g++ -std=c++20 -O2 -g -gdwarf-4 -gsplit-dwarf -c $src/shapes.cpp && g++ *.o -o program"},
    {"Clang", "$clang -std=c++20 -O2 -g $src/main.cpp $src/shapes.cpp -o program"},
    {"ClangVersion4",
     "$clang -std=c++20 -O2 -g -gdwarf-4 $src/main.cpp $src/shapes.cpp -o program"},
    {"ClangRanges",
     "$clang -std=c++20 -O2 -g -gdwarf-aranges -ffunction-sections $src/main.cpp "
     "$src/shapes.cpp -o program"},
    {"ClangZstd",
     "$clang -std=c++20 -O2 -g $src/main.cpp $src/shapes.cpp -o program && "
     "$objcopy --compress-debug-sections=zstd program"},
    {"ClangSplit",
     "$clang -std=c++20 -O2 -g -gsplit-dwarf -c $src/main.cpp && "
     "$clang -std=c++20 -O2 -g -gsplit-dwarf -c $src/shapes.cpp && $clang *.o -o program"},
    {"ClangPackage",
     "$clang -std=c++20 -O2 -g -gsplit-dwarf -c $src/main.cpp && "
     "$clang -std=c++20 -O2 -g -gsplit-dwarf -c $src/shapes.cpp && $clang *.o -o program && "
     "$dwp -e program -o program.dwp && rm *.dwo"},
    {"ClangPackageVersion4",
     "$clang -std=c++20 -O2 -g -gdwarf-4 -gsplit-dwarf -c $src/main.cpp && "
     "$clang -std=c++20 -O2 -g -gdwarf-4 -gsplit-dwarf -c $src/shapes.cpp && "
     "$clang *.o -o program && $dwp -e program -o program.dwp && rm *.dwo"},
    {"Dwz", "g++ -std=c++20 -O2 -g $src/main.cpp $src/shapes.cpp -o program && $dwz program"},
    // dwz -m wants two files to find something common. LLVM does not read what it moves, so the
    // oracle is shown the program as it was.
    {"DwzSupplementary",
     "g++ -std=c++20 -O2 -g $src/main.cpp $src/shapes.cpp -o program && cp program before && "
     "cp program other && $dwz -m common.debug program other && rm other",
     "before"},
    {"DebugLink",
     "g++ -std=c++20 -O2 -g $src/main.cpp $src/shapes.cpp -o program && mkdir .debug "
     "&& objcopy --only-keep-debug program .debug/program.debug && strip program && "
     "objcopy --add-gnu-debuglink=.debug/program.debug program",
     ".debug/program.debug"},
    {"DebugLinkByCrc",
     "g++ -std=c++20 -O2 -g -Wl,--build-id=none $src/main.cpp $src/shapes.cpp -o program && "
     "objcopy --only-keep-debug program program.debug && strip program && "
     "objcopy --add-gnu-debuglink=program.debug program",
     "program.debug"},
    {"Rust", "$rustc -O -g $src/words.rs -o program"},
};

std::string shell_quoted_settings() {
    return std::string("set -e; src='" BOBBIN_DWARF_SOURCES "' clang='" BOBBIN_DWARF_CLANGXX
                       "' dwp='" BOBBIN_LLVM_DWP "' objcopy='" BOBBIN_LLVM_OBJCOPY
                       "' dwz='" BOBBIN_DWZ "' rustc='" BOBBIN_DWARF_RUSTC "'; ");
}

// Symbols by name, to know which names are two of one function: a constructor's variants.
std::multimap<std::string, std::string> read_symbols(const std::string& program) {
    const test::FinishedProcess nm = test::run_process({"nm", "--defined-only", program});
    std::multimap<std::string, std::string> vaddr_by_name;
    std::istringstream lines(nm.standard_output);
    for (std::string vaddr, type, name; lines >> vaddr >> type >> name;) {
        vaddr_by_name.emplace(name, vaddr);
    }
    return vaddr_by_name;
}

class DwarfAgainstLlvm : public testing::TestWithParam<Build> {
protected:
    [[nodiscard]] std::string program() const { return directory_ / "program"; }
    [[nodiscard]] std::string oracle() const { return directory_ / GetParam().oracle; }

    void build() {
        const std::string script = shell_quoted_settings() + "cd '" + directory_.path().string() +
                                   "'; " + GetParam().script;
        const test::FinishedProcess shell = test::run_process({"/bin/sh", "-c", script});
        ASSERT_EQ(shell.exit_status, 0) << shell.standard_error;
        symbols_ = read_symbols(oracle());
    }

    [[nodiscard]] std::vector<std::vector<NamedFrame>> our_frames(
        const std::vector<std::uint64_t>& addresses) const {
        const UniqueFd fd(::open(program().c_str(), O_RDONLY | O_CLOEXEC));
        const auto file = elf::ElfFile::open(fd.get());
        EXPECT_TRUE(file);
        auto names = symbolize::DwarfSymbolizer(fd.get(), *file, program()).name(addresses);
        EXPECT_TRUE(names);
        return names ? *names : std::vector<std::vector<NamedFrame>>(addresses.size());
    }

    [[nodiscard]] bool is_same_symbol(const std::string& a, const std::string& b) const {
        const auto [first, last] = symbols_.equal_range(a);
        return std::any_of(first, last, [&](const auto& symbol) {
            const auto [other, end] = symbols_.equal_range(b);
            return std::any_of(other, end,
                               [&](const auto& alias) { return alias.second == symbol.second; });
        });
    }

    // LLVM has no scopes for what has no linkage name, and takes the file of code without lines
    // from the symbol table.
    [[nodiscard]] bool is_same(const NamedFrame& ours, const OracleFrame& llvm) const {
        const bool same_name = ours.system_name == llvm.function ||
                               ours.system_name.ends_with("::" + llvm.function) ||
                               is_same_symbol(ours.system_name, llvm.function);
        const bool no_lines = ours.file.empty() && llvm.line == 0;
        return same_name && ours.line == llvm.line && (ours.file == llvm.file || no_lines);
    }

    [[nodiscard]] bool agree(const std::vector<NamedFrame>& ours,
                             const std::vector<OracleFrame>& llvm) const {
        // Padding between functions has a line, but no function.
        if (ours.empty()) return llvm.size() == 1 && llvm[0].function == "??";
        return std::equal(ours.begin(), ours.end(), llvm.begin(), llvm.end(),
                          [&](const NamedFrame& a, const OracleFrame& b) { return is_same(a, b); });
    }

    test::TemporaryDirectory directory_;
    std::multimap<std::string, std::string> symbols_;
};

std::string print(std::uint64_t address, const std::vector<NamedFrame>& ours,
                  const std::vector<OracleFrame>& llvm) {
    std::string text = fmt::format("at {:#x}\n", address);
    for (const NamedFrame& frame : ours) {
        text += fmt::format("  ours {} {}:{}\n", frame.system_name, frame.file, frame.line);
    }
    for (const OracleFrame& frame : llvm) {
        text += fmt::format("  llvm {} {}:{}\n", frame.function, frame.file, frame.line);
    }
    return text;
}

// Frame by frame: function, file and line of what was inlined and of what it was inlined into.
TEST_P(DwarfAgainstLlvm, GivesTheSameFrames) {
    constexpr double kLeastAgreement = 0.999;
    constexpr std::size_t kMostPrinted = 3;
    ASSERT_NO_FATAL_FAILURE(build());
    const std::vector<std::uint64_t> addresses = test::text_addresses(program());
    const auto ours = our_frames(addresses);
    const auto llvm = test::llvm_frames(oracle(), directory_.path(), addresses);
    ASSERT_EQ(llvm.size(), addresses.size());

    std::size_t differing = 0;
    std::string examples;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (agree(ours[i], llvm[i])) continue;
        if (++differing <= kMostPrinted) examples += print(addresses[i], ours[i], llvm[i]);
    }
    const auto is_chain = [](const auto& frames) { return frames.size() > 1; };
    RecordProperty("addresses", static_cast<int>(addresses.size()));
    RecordProperty("differing", static_cast<int>(differing));
    EXPECT_LE(static_cast<double>(differing),
              static_cast<double>(addresses.size()) * (1 - kLeastAgreement))
        << differing << " of " << addresses.size() << "\n"
        << examples;
    EXPECT_EQ(std::ranges::any_of(ours, is_chain), std::ranges::any_of(llvm, is_chain));
    EXPECT_GT(addresses.size(), 1000U);
}

INSTANTIATE_TEST_SUITE_P(, DwarfAgainstLlvm, testing::ValuesIn(kBuilds),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bobbin
