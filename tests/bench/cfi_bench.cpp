// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <libelf.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "cfi/eh_frame.h"
#include "elf/elf_file.h"

namespace bobbin {
namespace {

namespace fs = std::filesystem;

struct Input {
    std::string path;
    elf::SectionBytes eh_frame;
};

std::optional<Input> read_input(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const Result<elf::ElfFile> file = elf::ElfFile::open(fd.get());
    if (!file) return std::nullopt;
    Result<std::optional<elf::SectionBytes>> section = file->read_eh_frame();
    if (!section || !*section) return std::nullopt;
    return Input{path, std::move(**section)};
}

// Every program and library below /usr, the one with the largest .eh_frame first.
std::vector<Input> read_usr() {
    std::vector<Input> inputs;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(
             "/usr", fs::directory_options::skip_permission_denied, error)) {
        if (entry.is_symlink(error) || !entry.is_regular_file(error)) continue;
        std::optional<Input> input = read_input(entry.path());
        if (input) inputs.push_back(std::move(*input));
    }
    std::ranges::stable_sort(inputs, std::ranges::greater(),
                             [](const Input& input) { return input.eh_frame.bytes.size(); });
    return inputs;
}

std::size_t count_bytes(std::span<const Input> inputs) {
    std::size_t bytes = 0;
    for (const Input& input : inputs) bytes += input.eh_frame.bytes.size();
    return bytes;
}

void set_rates(benchmark::State& state, std::span<const Input> inputs, std::uint64_t rows) {
    const auto iterations = static_cast<std::int64_t>(state.iterations());
    const auto bytes = static_cast<std::int64_t>(count_bytes(inputs));
    const auto megabytes = static_cast<double>(iterations * bytes) / 1e6;
    state.counters["MB/s"] = benchmark::Counter(megabytes, benchmark::Counter::kIsRate);
    state.counters["rows"] = static_cast<double>(rows);
}

void read_by_bobbin(benchmark::State& state, std::span<const Input> inputs) {
    std::uint64_t rows = 0;
    for (auto _ : state) {
        rows = 0;
        for (const Input& input : inputs) {
            const auto frame = cfi::read_eh_frame(input.eh_frame.bytes, input.eh_frame.file_vaddr);
            rows += frame ? frame->unwind.rows.size() : 0;
        }
    }
    set_rates(state, inputs, rows);
}

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
std::uint64_t ask_for_rows(const Input& input, const cfi::UnwindRows& ours) {
    const UniqueFd fd(::open(input.path.c_str(), O_RDONLY | O_CLOEXEC));
    ::Elf* elf = ::elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr);
    Dwarf_CFI* cfi = ::dwarf_getcfi_elf(elf);
    std::uint64_t rows = 0;
    std::uint64_t done_until = 0;
    for (const cfi::UnwindRow& row : ours.rows) {
        const std::uint64_t file_vaddr = ours.file_vaddr(row);
        if (row.rule == cfi::UnwindRows::kNoCfiRule || file_vaddr < done_until) continue;
        done_until = ask_for_row(cfi, file_vaddr, rows);
    }
    ::dwarf_cfi_end(cfi);
    ::elf_end(elf);
    return rows;
}

void read_by_libdw(benchmark::State& state, std::span<const Input> inputs) {
    ::elf_version(EV_CURRENT);
    std::uint64_t rows = 0;
    for (auto _ : state) {
        rows = 0;
        for (const Input& input : inputs) {
            state.PauseTiming();
            const auto ours = cfi::read_eh_frame(input.eh_frame.bytes, input.eh_frame.file_vaddr);
            state.ResumeTiming();
            if (ours) rows += ask_for_rows(input, ours->unwind);
        }
    }
    set_rates(state, inputs, rows);
}

void register_pair(const std::string& name, std::span<const Input> inputs) {
    fmt::print("{}: {} files, {} bytes of .eh_frame\n", name, inputs.size(), count_bytes(inputs));
    for (const auto& [reader, read] :
         {std::pair("bobbin", &read_by_bobbin), std::pair("libdw", &read_by_libdw)}) {
        benchmark::RegisterBenchmark(
            fmt::format("{}/{}", reader, name).c_str(),
            [inputs, read](benchmark::State& state) { read(state, inputs); })
            ->Unit(benchmark::kMillisecond);
    }
}

}  // namespace
}  // namespace bobbin

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    std::vector<bobbin::Input> inputs;
    if (const char* path = std::getenv("BOBBIN_BENCH_FILE")) {
        if (auto input = bobbin::read_input(path)) inputs.push_back(std::move(*input));
    } else {
        inputs = bobbin::read_usr();
    }
    if (inputs.empty()) {
        fmt::print(stderr, "no .eh_frame to read\n");
        return 1;
    }
    bobbin::register_pair(inputs.front().path, std::span(inputs).first(1));
    if (inputs.size() > 1) bobbin::register_pair("/usr", inputs);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
