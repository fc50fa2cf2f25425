// SPDX-License-Identifier: Apache-2.0
// bench_dwarf FILE < ADDRESSES: what `llvm-symbolizer --no-demangle --obj=FILE` prints but for the
// column: for each address its functions, each with file:line, and an empty line. CPU and memory on
// standard error, for a comparison of the two in one run.
#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "elf/elf_file.h"
#include "symbolize/dwarf_symbolizer.h"

namespace {

using bobbin::symbolize::DwarfSymbolizer;
using Names = std::vector<std::vector<bobbin::symbolize::NamedFrame>>;

std::vector<std::uint64_t> read_addresses() {
    std::vector<std::uint64_t> addresses;
    for (std::string line; std::getline(std::cin, line);) {
        addresses.push_back(std::stoull(line, nullptr, 16));
    }
    return addresses;
}

void print(const std::vector<std::uint64_t>& asked, const std::vector<std::uint64_t>& sorted,
           const Names& names) {
    std::string text;
    for (const std::uint64_t address : asked) {
        const auto place = std::ranges::lower_bound(sorted, address) - sorted.begin();
        const auto& frames = names[static_cast<std::size_t>(place)];
        for (const auto& frame : frames) {
            const std::string_view file = frame.file.empty() ? "??" : std::string_view(frame.file);
            text.append(frame.system_name).append("\n").append(file).append(":");
            text.append(fmt::format_int(frame.line).c_str()).append("\n");
        }
        text += frames.empty() ? "??\n??:0\n\n" : "\n";
        if (text.size() < (1U << 20)) continue;
        std::cout << text;
        text.clear();
    }
    std::cout << text;
}

void print_cost(const bobbin::symbolize::DwarfQuality& quality) {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    fmt::print(stderr, "{:.3f} s user, {:.3f} s system, {} KiB; debug info {}, split missing {}\n",
               seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss,
               quality.has_debug_info, quality.missing_split_units);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const bobbin::UniqueFd fd(::open(argv[1], O_RDONLY | O_CLOEXEC));
    const auto file = bobbin::elf::ElfFile::open(fd.get());
    if (!file) {
        fmt::print(stderr, "{}: {}\n", argv[1], file.error().message());
        return 1;
    }
    const std::vector<std::uint64_t> asked = read_addresses();
    std::vector<std::uint64_t> sorted = asked;
    std::ranges::sort(sorted);
    const auto repeated = std::ranges::unique(sorted);
    sorted.erase(repeated.begin(), repeated.end());
    DwarfSymbolizer symbolizer(fd.get(), *file, argv[1]);
    const auto names = symbolizer.name(sorted);
    if (!names) {
        fmt::print(stderr, "{}: {}\n", argv[1], names.error().message());
        return 1;
    }
    if (argc == 2) print(asked, sorted, *names);
    print_cost(symbolizer.quality());
    return 0;
}
