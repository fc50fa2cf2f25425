// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <libelf.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "cfi/eh_frame.h"
#include "elf/elf_file.h"

namespace bobbin {
namespace {

namespace fs = std::filesystem;

fs::path find_largest_library() {
    fs::path largest;
    std::uintmax_t largest_bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(
             "/usr/lib/x86_64-linux-gnu", fs::directory_options::skip_permission_denied, error)) {
        const bool library = entry.path().filename().string().find(".so") != std::string::npos;
        if (!library || entry.is_symlink(error) || !entry.is_regular_file(error)) continue;
        const std::uintmax_t size_bytes = entry.file_size(error);
        if (error || size_bytes <= largest_bytes) continue;
        largest = entry.path();
        largest_bytes = size_bytes;
    }
    return largest;
}

struct Input {
    std::string path;
    elf::SectionBytes eh_frame;
};

std::optional<Input> read_input() {
    const char* chosen = std::getenv("BOBBIN_BENCH_FILE");
    const std::string path = chosen != nullptr ? chosen : find_largest_library().string();
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const Result<elf::ElfFile> file = elf::ElfFile::open(fd.get());
    if (!file) return std::nullopt;
    Result<std::optional<elf::SectionBytes>> section = file->read_eh_frame();
    if (!section || !*section) return std::nullopt;
    return Input{path, std::move(**section)};
}

void set_rates(benchmark::State& state, const Input& input, std::uint64_t rows) {
    const auto iterations = static_cast<std::int64_t>(state.iterations());
    state.SetBytesProcessed(iterations * static_cast<std::int64_t>(input.eh_frame.bytes.size()));
    state.counters["rows"] = static_cast<double>(rows);
}

void read_by_bobbin(benchmark::State& state, const Input& input) {
    std::uint64_t rows = 0;
    for (auto _ : state) {
        const auto frame = cfi::read_eh_frame(input.eh_frame.bytes, input.eh_frame.file_vaddr);
        rows = frame ? frame->unwind.rows.size() : 0;
    }
    set_rates(state, input, rows);
}

// All rows of the function at `file_vaddr`; gives its end. libdw says how far a row goes, so that
// Asks for the row at `file_vaddr`; gives its end, where the next one is to be asked for.
std::uint64_t ask_for_row(Dwarf_CFI* cfi, std::uint64_t file_vaddr, std::uint64_t& rows) {
    Dwarf_Frame* found = nullptr;
    if (::dwarf_cfi_addrframe(cfi, file_vaddr, &found) != 0) return file_vaddr + 1;
    const std::unique_ptr<Dwarf_Frame, void (*)(void*)> frame(found, ::free);
    Dwarf_Addr end = 0;
    ::dwarf_frame_info(frame.get(), nullptr, &end, nullptr);
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    benchmark::DoNotOptimize(::dwarf_frame_cfa(frame.get(), &ops, &count));
    ++rows;
    return end > file_vaddr ? end : file_vaddr + 1;
}

// The addresses to ask for come from our own rows, so libdw is spared the search for gaps.
void read_by_libdw(benchmark::State& state, const Input& input) {
    const auto ours = cfi::read_eh_frame(input.eh_frame.bytes, input.eh_frame.file_vaddr);
    ::elf_version(EV_CURRENT);
    const UniqueFd fd(::open(input.path.c_str(), O_RDONLY | O_CLOEXEC));
    std::uint64_t rows = 0;
    for (auto _ : state) {
        rows = 0;
        ::Elf* elf = ::elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr);
        Dwarf_CFI* cfi = ::dwarf_getcfi_elf(elf);
        std::uint64_t done_until = 0;
        for (const cfi::UnwindRow& row : ours->unwind.rows) {
            const std::uint64_t file_vaddr = ours->unwind.file_vaddr(row);
            if (row.rule == cfi::UnwindRows::kNoCfiRule || file_vaddr < done_until) continue;
            done_until = ask_for_row(cfi, file_vaddr, rows);
        }
        ::dwarf_cfi_end(cfi);
        ::elf_end(elf);
    }
    set_rates(state, input, rows);
}

}  // namespace
}  // namespace bobbin

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const std::optional<bobbin::Input> input = bobbin::read_input();
    if (!input) {
        fmt::print(stderr, "no .eh_frame to read; name a file in BOBBIN_BENCH_FILE\n");
        return 1;
    }
    fmt::print("{}: {} bytes of .eh_frame\n", input->path, input->eh_frame.bytes.size());
    benchmark::RegisterBenchmark("bobbin", [&](benchmark::State& state) {
        bobbin::read_by_bobbin(state, *input);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("libdw", [&](benchmark::State& state) {
        bobbin::read_by_libdw(state, *input);
    })->Unit(benchmark::kMillisecond);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
