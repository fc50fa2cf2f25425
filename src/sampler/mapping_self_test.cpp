// SPDX-License-Identifier: Apache-2.0
#include "sampler/mapping_self_test.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace bobbin::sampler {
namespace {

Result<> run(const MappingProbe& probe, std::uint64_t vaddr) {
    std::uint64_t context[1] = {vaddr};
    LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context, .ctx_size_in = sizeof(context));
    if (bpf_prog_test_run_opts(probe.program_fd, &options) != 0) {
        return fail_with(errno, "run the self-test of the mapping walk");
    }
    return {};
}

Result<> expect(const MappingProbe& probe, const ProcMapping& mapping, std::uint64_t vaddr) {
    BOBBIN_CHECK(run(probe, vaddr));
    const bool same = *probe.start_vaddr == mapping.start_vaddr &&
                      *probe.end_vaddr == mapping.end_vaddr &&
                      (!mapping.has_file || *probe.file_offset == mapping.file_offset);
    if (same) return {};
    return fail("walk of mappings: {:x} lies in {:x}-{:x}, not in {:x}-{:x}", vaddr,
                mapping.start_vaddr, mapping.end_vaddr, *probe.start_vaddr, *probe.end_vaddr);
}

}  // namespace

std::vector<ProcMapping> parse_proc_maps(std::string_view text) {
    std::vector<ProcMapping> mappings;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string line(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        ProcMapping mapping;
        unsigned long long inode = 0;
        unsigned long long start = 0;
        unsigned long long stop = 0;
        unsigned long long offset = 0;
        // NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers, each at most 64 bits
        if (std::sscanf(line.c_str(), "%llx-%llx %*4s %llx %*x:%*x %llu", &start, &stop, &offset,
                        &inode) != 4) {
            continue;
        }
        mapping.start_vaddr = start;
        mapping.end_vaddr = stop;
        mapping.file_offset = offset;
        mapping.has_file = inode != 0;
        mappings.push_back(mapping);
    }
    return mappings;
}

Result<> compare_with_proc_maps(const MappingProbe& probe, const std::string& maps) {
    std::ifstream file(maps);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto mappings = parse_proc_maps(text);
    if (mappings.empty()) return fail("read {}: no mappings", maps);
    for (const ProcMapping& mapping : mappings) {
        // The gate page of [vsyscall] is in no process's tree; the stack and heap may grow
        // meanwhile.
        if (!mapping.has_file) continue;
        BOBBIN_CHECK(expect(probe, mapping, mapping.start_vaddr));
        BOBBIN_CHECK(expect(probe, mapping, mapping.end_vaddr - 1));
    }
    BOBBIN_CHECK(run(probe, 0x1000));
    if (*probe.end_vaddr != 0) return fail("walk of mappings: found one at 1000, where none is");
    return {};
}

}  // namespace bobbin::sampler
