// SPDX-License-Identifier: Apache-2.0
#include "sampler/outcome_counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace bobbin::sampler {

Result<abi::outcome_counters> read_outcome_counts(int map_fd) {
    constexpr std::size_t kWords = sizeof(abi::outcome_counters) / sizeof(std::uint64_t);
    static_assert(sizeof(abi::outcome_counters) % sizeof(std::uint64_t) == 0,
                  "counters are summed word by word");
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 0) return fail_with(cpus, "count the possible CPUs");
    std::vector<std::uint64_t> words(kWords * static_cast<std::size_t>(cpus));
    const __u32 key = 0;
    if (bpf_map_lookup_elem(map_fd, &key, words.data()) != 0) {
        return fail_with(errno, "read the outcome counters");
    }
    std::vector<std::uint64_t> sums(kWords);
    for (std::size_t i = 0; i < words.size(); ++i) sums[i % kWords] += words[i];
    abi::outcome_counters counters{};
    std::memcpy(&counters, sums.data(), sizeof(counters));
    return counters;
}

}  // namespace bobbin::sampler
