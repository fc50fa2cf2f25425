// SPDX-License-Identifier: Apache-2.0
// What a table costs: building it, and a lookup in it. The input is the largest .eh_frame below
// /usr, or that of the file named by BOBBIN_BENCH_FILE.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstdlib>
#include <random>

#include "golden/table_system_files.h"
#include "unwind_table/build_table.h"

namespace {

using namespace bobbin;

test::SystemFile read_largest() {
    test::SystemFile largest;
    std::string largest_path;
    const char* const named = std::getenv("BOBBIN_BENCH_FILE");
    for (const std::string& path :
         named != nullptr ? std::vector<std::string>{named} : test::find_system_files()) {
        std::optional<test::SystemFile> file = test::read_system_file(path);
        if (file && file->rows.rows.size() > largest.rows.rows.size()) {
            largest = *std::move(file);
            largest_path = path;
        }
    }
    fmt::print("{}: {} rows, {} bytes of .eh_frame\n", largest_path, largest.rows.rows.size(),
               largest.eh_frame_bytes);
    return largest;
}

const test::SystemFile& input() {
    static const test::SystemFile file = read_largest();
    return file;
}

const unwind_table::UnwindTable& input_table() {
    static const unwind_table::UnwindTable table = [] {
        unwind_table::SpecialRules specials;
        auto built = unwind_table::build_table(input().rows, input().segments, specials);
        return built ? *std::move(built) : unwind_table::UnwindTable{};
    }();
    return table;
}

void build_table(benchmark::State& state) {
    const test::SystemFile& file = input();
    unwind_table::SpecialRules specials;
    std::uint64_t table_bytes = 0;
    for (auto _ : state) {
        const auto table = unwind_table::build_table(file.rows, file.segments, specials);
        benchmark::DoNotOptimize(table);
        table_bytes = table ? table->words.size() * sizeof(std::uint32_t) : 0;
    }
    const auto rounds = static_cast<double>(state.iterations());
    state.counters["rows"] = benchmark::Counter(rounds * static_cast<double>(file.rows.rows.size()),
                                                benchmark::Counter::kIsRate);
    state.counters["eh_frame_bytes"] = benchmark::Counter(
        rounds * static_cast<double>(file.eh_frame_bytes), benchmark::Counter::kIsRate);
    state.counters["table_bytes"] = static_cast<double>(table_bytes);
}
BENCHMARK(build_table)->Unit(benchmark::kMillisecond);

// Offsets spread over the whole text, `distinct` different ones in random order.
void find_code(benchmark::State& state) {
    const unwind_table::UnwindTable& table = input_table();
    std::mt19937_64 random(1);
    const std::uint64_t span_bytes = std::uint64_t{table.granule_count} << table.granule_shift;
    std::vector<std::uint64_t> offsets(static_cast<std::size_t>(state.range(0)));
    for (std::uint64_t& offset : offsets) {
        offset = table.base_file_offset + random() % std::max<std::uint64_t>(span_bytes, 1);
    }
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(unwind_table::find_code(table, offsets[i]));
        i = i + 1 == offsets.size() ? 0 : i + 1;
    }
}
BENCHMARK(find_code)->ArgName("distinct")->Arg(2048)->Arg(65536)->Arg(4 << 20);

}  // namespace

BENCHMARK_MAIN();
