// SPDX-License-Identifier: Apache-2.0
// What one look-up of an unwind rule costs inside the kernel: bobbin's table against a page hash
// with rows of 8 bytes, both filled from the same runs of rules, by BPF_PROG_TEST_RUN. The sums of
// all codes found have to agree. Run as root:  lookup_bench [FILE...]   default: the 16 files with
// the most rows below /usr.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/filled_tables.h"
#include "bench/lookup_rows.h"
#include "golden/table_system_files.h"
#include "lookup.skel.h"
#include "sampler/bpf_program.h"
#include "unwind_table/simplify_rows.h"

namespace bobbin::bench {
namespace {

constexpr std::size_t kFileCount = 16;
constexpr std::size_t kPlaceCount = 65536;
constexpr std::size_t kHotPlaceCount = 2048;
constexpr unsigned kLookupsARun = 32;

// Twice the last level of caches, as large as that may be.
std::size_t eviction_bytes() {
    const long cache_bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    return std::max(std::size_t{96} << 20, 2 * static_cast<std::size_t>(std::max(cache_bytes, 0L)));
}

struct Place {
    abi::executable executable{};
    std::uint64_t file_offset = 0;
    std::uint32_t executable_id = 0;
    std::uint32_t unused = 0;
};

struct SkeletonDeleter {
    void operator()(lookup_bpf* skeleton) const { lookup_bpf__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<lookup_bpf, SkeletonDeleter>;

std::vector<std::string> choose_files() {
    std::vector<std::pair<std::size_t, std::string>> by_rows;
    for (std::string& path : test::find_system_files()) {
        if (const auto file = test::read_system_file(path)) {
            by_rows.emplace_back(file->rows.rows.size(), std::move(path));
        }
    }
    std::ranges::sort(by_rows, std::greater<>());
    by_rows.resize(std::min(by_rows.size(), kFileCount));
    std::vector<std::string> paths;
    for (auto& entry : by_rows) paths.push_back(std::move(entry.second));
    return paths;
}

// The same rules as runs.
Result<unwind_table::Runs> runs_of(const test::SystemFile& file,
                                   unwind_table::SpecialRules& specials,
                                   std::uint64_t& base_file_offset) {
    BOBBIN_TRY(const auto text, unwind_table::find_text(file.segments));
    base_file_offset = text.base_file_offset;
    return unwind_table::simplify_rows(file.rows, text, specials);
}

Result<Skeleton> load(const sampler::BpfProgram& program) {
    Skeleton skeleton(lookup_bpf__open());
    if (!skeleton) return fail_with(errno, "open the bench's BPF object");
    const std::array<std::pair<bpf_map*, int>, 2> shared = {{
        {skeleton->maps.unwind_buckets, program.unwind_buckets_fd()},
        {skeleton->maps.macros, program.macros_fd()},
    }};
    for (const auto& [map, fd] : shared) {
        if (bpf_map__reuse_fd(map, fd) != 0) return fail_with(errno, "share a map");
    }
    if (lookup_bpf__load(skeleton.get()) != 0) return fail_with(errno, "load the bench's programs");
    return skeleton;
}

std::vector<Place> spread_places(const std::vector<Place>& ends) {
    std::mt19937_64 random(1);
    std::vector<Place> places(kPlaceCount);
    for (Place& place : places) {
        const Place& end = ends[random() % ends.size()];
        place = end;
        place.file_offset = random() % end.file_offset;
    }
    return places;
}

struct Timing {
    double ns_a_lookup = 0;
    std::uint64_t checksum = 0;
};

class Runner {
public:
    explicit Runner(lookup_bpf& skeleton)
        : skeleton_(skeleton), eviction_(eviction_bytes() / sizeof(std::uint64_t)) {}

    // `distinct` places, over and over; the fastest of some rounds, since nothing makes it faster
    // than it is.
    Timing run_warm(const bpf_program* program, std::size_t distinct) {
        constexpr int kRounds = 7;
        const auto runs = static_cast<unsigned>(std::max(distinct, kPlaceCount) / kLookupsARun);
        start(distinct);
        run(program, runs);
        Timing best{1e9, 0};
        for (int round = 0; round < kRounds; ++round) {
            start(distinct);
            best.ns_a_lookup = std::min(best.ns_a_lookup, run(program, runs));
            best.checksum = skeleton_.bss->checksum;
        }
        return best;
    }

    // Median of single runs, each after the caches were filled with something else.
    Timing run_cold(const bpf_program* program) {
        constexpr int kRounds = 51;
        std::vector<double> rounds;
        start(kPlaceCount);
        for (int round = 0; round < kRounds; ++round) {
            for (std::size_t at = 0; at < eviction_.size(); at += 8) ++eviction_[at];
            rounds.push_back(run(program, 1));
        }
        std::ranges::nth_element(rounds, rounds.begin() + kRounds / 2);
        return {rounds[kRounds / 2], skeleton_.bss->checksum};
    }

private:
    void start(std::size_t distinct) {
        skeleton_.bss->place_mask = static_cast<std::uint32_t>(distinct - 1);
        skeleton_.bss->next_place = 0;
        skeleton_.bss->checksum = 0;
    }

    static double run(const bpf_program* program, unsigned runs) {
        std::array<char, 64> packet{};
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet.data(),
                    .data_size_in = packet.size(), .repeat = static_cast<int>(runs));
        if (bpf_prog_test_run_opts(bpf_program__fd(program), &options) != 0) {
            fmt::print(stderr, "BPF_PROG_TEST_RUN: {}\n", std::strerror(errno));
            std::exit(1);
        }
        return static_cast<double>(options.duration) / kLookupsARun;
    }

    lookup_bpf& skeleton_;
    std::vector<std::uint64_t> eviction_;
};

int compare(lookup_bpf& skeleton) {
    Runner runner(skeleton);
    const auto& programs = skeleton.progs;
    int disagreements = 0;
    const auto report = [&](const char* name, auto&& measure) {
        const double nothing = measure(programs.look_up_nothing).ns_a_lookup;
        const Timing table = measure(programs.look_up_table);
        const Timing rows = measure(programs.look_up_rows);
        fmt::print("{:8}  table {:7.1f} ns   8-byte rows {:7.1f} ns   ratio {:.3f}\n", name,
                   table.ns_a_lookup - nothing, rows.ns_a_lookup - nothing,
                   (table.ns_a_lookup - nothing) / (rows.ns_a_lookup - nothing));
        disagreements += table.checksum == rows.checksum ? 0 : 1;
    };
    report("hot", [&](const bpf_program* p) { return runner.run_warm(p, kHotPlaceCount); });
    report("uniform", [&](const bpf_program* p) { return runner.run_warm(p, kPlaceCount); });
    report("cold", [&](const bpf_program* p) { return runner.run_cold(p); });
    if (disagreements != 0) fmt::print("THE TWO DISAGREE about the codes\n");
    return disagreements == 0 ? 0 : 1;
}

Result<int> run(std::vector<std::string> paths) {
    if (paths.empty()) paths = choose_files();
    BOBBIN_TRY(const auto program, sampler::BpfProgram::load({}));
    BOBBIN_TRY(const Skeleton skeleton, load(program));
    const RowMaps row_maps{bpf_map__fd(skeleton->maps.row_pages),
                           bpf_map__fd(skeleton->maps.rows_of_executables)};
    FilledTables tables(program);
    std::vector<Place> ends;
    std::size_t row_count = 0;
    for (const std::string& path : paths) {
        const auto id = static_cast<std::uint32_t>(FIRST_FILE_EXECUTABLE_ID + ends.size());
        const auto file = test::read_system_file(path);
        if (!file) return fail("{} has no unwind rows", path);
        std::uint64_t base_file_offset = 0;
        BOBBIN_TRY(const auto runs, runs_of(*file, tables.rules().specials, base_file_offset));
        const RowTable rows = make_rows(runs, base_file_offset);
        BOBBIN_CHECK(publish_rows(row_maps, id, rows));
        BOBBIN_CHECK(tables.add(path, id));
        row_count += rows.rows.size();
        abi::executable geometry{};
        if (bpf_map_lookup_elem(program.executables_fd(), &id, &geometry) != 0) {
            return fail_with(errno, "read the geometry of {}", path);
        }
        ends.push_back({geometry, base_file_offset + runs.end_offset, id, 0});
    }
    fmt::print("{} files, {} rows\n", paths.size(), row_count);
    const std::vector<Place> places = spread_places(ends);
    for (std::uint32_t index = 0; index < places.size(); ++index) {
        if (bpf_map_update_elem(bpf_map__fd(skeleton->maps.places), &index, &places[index],
                                BPF_ANY) != 0) {
            return fail_with(errno, "write the places to look up");
        }
    }
    return compare(*skeleton);
}

}  // namespace
}  // namespace bobbin::bench

int main(int argc, char** argv) {
    const auto status = bobbin::bench::run({argv + 1, argv + argc});
    if (!status) {
        fmt::print(stderr, "{}\n", status.error().message());
        return 1;
    }
    return *status;
}
