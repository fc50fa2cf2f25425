// SPDX-License-Identifier: Apache-2.0
// What a table costs: building it, with and without reading its .eh_frame, by one thread and by two
// that share a dictionary, and a lookup in it. The input is the largest .eh_frame below /usr, or
// that of the file named by BOBBIN_BENCH_FILE. Seconds are of CPU time of all threads, so a rate is
// what one thread does.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>

#include "golden/table_system_files.h"
#include "unwind_table/build_table.h"

namespace {

using namespace bobbin;

struct Input {
    test::SystemFile file;
    elf::SectionBytes eh_frame;
};

Input read_largest() {
    Input input;
    std::string largest_path;
    const char* const named = std::getenv("BOBBIN_BENCH_FILE");
    for (const std::string& path :
         named != nullptr ? std::vector<std::string>{named} : test::find_system_files()) {
        std::optional<test::SystemFile> file = test::read_system_file(path);
        if (file && file->rows.rows.size() > input.file.rows.rows.size()) {
            input.file = *std::move(file);
            largest_path = path;
        }
    }
    const UniqueFd fd = test::open_for_reading(largest_path);
    if (const auto elf = elf::ElfFile::open(fd.get())) {
        if (auto section = elf->read_eh_frame(); section && *section) {
            input.eh_frame = **std::move(section);
        }
    }
    fmt::print("{}: {} rows, {} bytes of .eh_frame\n", largest_path, input.file.rows.rows.size(),
               input.file.eh_frame_bytes);
    return input;
}

const Input& input() {
    static const Input value = read_largest();
    return value;
}

struct BuiltInput {
    unwind_table::SharedRules shared;
    unwind_table::UnwindTable table;
};

const BuiltInput& input_table() {
    static BuiltInput value;
    static const bool built = [] {
        auto table =
            unwind_table::build_table(input().file.rows, input().file.segments, value.shared);
        if (table) {
            value.table = *std::move(table);
        }
        return true;
    }();
    static_cast<void>(built);
    return value;
}

void report(benchmark::State& state, const unwind_table::UnwindTable& table) {
    const auto rounds = static_cast<double>(state.iterations());
    const auto rows = static_cast<double>(input().file.rows.rows.size());
    const auto per_thread = benchmark::Counter::kIsRate;
    state.counters["rows"] = benchmark::Counter(rounds * rows, per_thread);
    state.counters["eh_frame_bytes"] =
        benchmark::Counter(rounds * static_cast<double>(input().file.eh_frame_bytes), per_thread);
    state.counters["bytes_a_row"] =
        benchmark::Counter(static_cast<double>(table.words.size() * sizeof(std::uint32_t)) / rows,
                           benchmark::Counter::kAvgThreads);
}

// As the first file of all: the dictionary is empty.
void build_first_table(benchmark::State& state) {
    unwind_table::UnwindTable last;
    for (auto _ : state) {
        state.PauseTiming();
        auto shared = std::make_unique<unwind_table::SharedRules>();
        state.ResumeTiming();
        auto table = unwind_table::build_table(input().file.rows, input().file.segments, *shared);
        benchmark::DoNotOptimize(table);
        if (table) {
            last = *std::move(table);
        }
    }
    report(state, last);
}
BENCHMARK(build_first_table)->Unit(benchmark::kMillisecond);

// As a later one: its idioms are known.
void build_table(benchmark::State& state) {
    static unwind_table::SharedRules shared;
    unwind_table::UnwindTable last;
    for (auto _ : state) {
        auto table = unwind_table::build_table(input().file.rows, input().file.segments, shared);
        benchmark::DoNotOptimize(table);
        if (table) {
            last = *std::move(table);
        }
    }
    report(state, last);
}
BENCHMARK(build_table)->Unit(benchmark::kMillisecond)->ThreadRange(1, 2);

void parse_and_build_table(benchmark::State& state) {
    unwind_table::UnwindTable last;
    for (auto _ : state) {
        state.PauseTiming();
        auto shared = std::make_unique<unwind_table::SharedRules>();
        state.ResumeTiming();
        const auto frames = cfi::read_eh_frame(input().eh_frame.bytes, input().eh_frame.file_vaddr);
        if (!frames) {
            state.SkipWithError("no rows");
            return;
        }
        auto table = unwind_table::build_table(frames->unwind, input().file.segments, *shared);
        benchmark::DoNotOptimize(table);
        if (table) {
            last = *std::move(table);
        }
    }
    report(state, last);
}
BENCHMARK(parse_and_build_table)->Unit(benchmark::kMillisecond)->ThreadRange(1, 2);

// Offsets spread over the whole text, `distinct` different ones in random order.
void find_code(benchmark::State& state) {
    const unwind_table::UnwindTable& table = input_table().table;
    const std::span<const abi::macro> macros = input_table().shared.macros.since(0);
    std::mt19937_64 random(1);
    const std::uint64_t span_bytes = std::uint64_t{table.granule_count} << table.granule_shift;
    std::vector<std::uint64_t> offsets(static_cast<std::size_t>(state.range(0)));
    for (std::uint64_t& offset : offsets) {
        offset = table.base_file_offset + random() % std::max<std::uint64_t>(span_bytes, 1);
    }
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(unwind_table::find_code(table, offsets[i], macros));
        i = i + 1 == offsets.size() ? 0 : i + 1;
    }
}
BENCHMARK(find_code)->ArgName("distinct")->Arg(2048)->Arg(65536)->Arg(4 << 20);

}  // namespace

BENCHMARK_MAIN();
