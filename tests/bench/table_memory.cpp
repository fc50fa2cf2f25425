// SPDX-License-Identifier: Apache-2.0
// What the kernel charges for the tables of all programs and libraries below /usr, loaded into the
// real maps: `memlock` of /proc/self/fdinfo, which is what a memory cgroup pays. Run as root:
//   table_memory
#include <bpf/bpf.h>
#include <fmt/core.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "bench/filled_tables.h"
#include "bobbin/bpf_abi.h"

namespace bobbin::bench {
namespace {

std::uint64_t charged_bytes(int map_fd) {
    std::ifstream lines("/proc/self/fdinfo/" + std::to_string(map_fd));
    std::string key;
    std::string rest;
    while (lines >> key && std::getline(lines, rest)) {
        if (key == "memlock:") return std::stoull(rest);
    }
    return 0;
}

struct Buckets {
    std::uint64_t count = 0;
    std::uint64_t charged_bytes = 0;
};

Result<Buckets> measure_buckets(int outer_fd) {
    Buckets buckets;
    for (__u32 index = 0; index < abi::MAX_BUCKETS; ++index) {
        __u32 id = 0;
        if (bpf_map_lookup_elem(outer_fd, &index, &id) != 0) continue;
        const UniqueFd bucket(bpf_map_get_fd_by_id(id));
        if (!bucket.is_open()) return fail_with(errno, "open bucket {}", index);
        ++buckets.count;
        buckets.charged_bytes += charged_bytes(bucket.get());
    }
    return buckets;
}

Result<> run() {
    BOBBIN_TRY(const auto program, sampler::BpfProgram::load({}));
    FilledTables tables(program);
    std::uint64_t row_count = 0;
    std::uint64_t table_count = 0;
    std::uint32_t id = FIRST_FILE_EXECUTABLE_ID;
    for (const std::string& path : test::find_system_files()) {
        if (id == abi::MAX_EXECUTABLES) break;
        BOBBIN_TRY(const std::uint64_t rows, tables.add(path, id++));
        row_count += rows;
        table_count += rows == 0 ? 0 : 1;
    }
    BOBBIN_TRY(const Buckets buckets, measure_buckets(program.unwind_buckets_fd()));
    const std::uint64_t list = charged_bytes(program.unwind_buckets_fd());
    const std::uint64_t macros = charged_bytes(program.macros_fd());
    const std::uint64_t specials = charged_bytes(program.special_rules_fd());
    const std::uint64_t sum = buckets.charged_bytes + list + macros + specials;
    fmt::print("{} tables, {} rows\n", table_count, row_count);
    fmt::print("{:>12} bytes  {} buckets\n", buckets.charged_bytes, buckets.count);
    fmt::print("{:>12} bytes  their list\n{:>12} bytes  macros\n{:>12} bytes  special rules\n",
               list, macros, specials);
    fmt::print("{:>12} bytes  = {:.3f} a row\n", sum,
               static_cast<double>(sum) / static_cast<double>(row_count));
    return {};
}

}  // namespace
}  // namespace bobbin::bench

int main() {
    const auto done = bobbin::bench::run();
    if (!done) {
        fmt::print(stderr, "{}\n", done.error().message());
        return 1;
    }
    return 0;
}
