// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_features.h"

#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <cstdarg>
#include <filesystem>
#include <iterator>

#include "cli/system_facts.h"

namespace bobbin::cli {
namespace {

std::ptrdiff_t open_descriptor_count() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

// Rights decide whether BPF can be asked at all; release 5.10 has everything but bpf_loop.
TEST(ProbeKernelFeatures, FindsWhatEverySupportedKernelHas) {
    const SystemFacts facts = read_system_facts();
    const KernelFeatures features = probe_kernel_features(facts.may_load_bpf());
    const Support expected = facts.may_load_bpf() ? Support::kYes : Support::kNotAllowed;
    EXPECT_EQ(features.perf_event_programs, expected);
    EXPECT_EQ(features.ring_buffers, expected);
    EXPECT_EQ(features.maps_of_maps, expected);
    if (facts.kernel_is_at_least(5, 17)) {
        EXPECT_EQ(features.bpf_loop, expected);
    }
}

TEST(ProbeKernelFeatures, OpensACpuClockEventWhereRightsAllow) {
    const SystemFacts facts = read_system_facts();
    const KernelFeatures features = probe_kernel_features(false);
    EXPECT_EQ(features.cpu_clock_errno == 0, facts.may_open_perf_events())
        << "errno " << features.cpu_clock_errno;
}

TEST(ProbeKernelFeatures, AsksNothingOfBpfWithoutRights) {
    const KernelFeatures features = probe_kernel_features(false);
    EXPECT_EQ(features.perf_event_programs, Support::kNotAllowed);
    EXPECT_EQ(features.ring_buffers, Support::kNotAllowed);
    EXPECT_EQ(features.maps_of_maps, Support::kNotAllowed);
    EXPECT_EQ(features.bpf_loop, Support::kNotAllowed);
}

int print_nothing(libbpf_print_level /*level*/, const char* /*format*/, std::va_list /*values*/) {
    return 0;
}

TEST(ProbeKernelFeatures, LeavesNothingBehind) {
    const libbpf_print_fn_t before = libbpf_set_print(print_nothing);
    const std::ptrdiff_t open_before = open_descriptor_count();
    probe_kernel_features(read_system_facts().may_load_bpf());
    EXPECT_EQ(open_descriptor_count(), open_before);
    EXPECT_EQ(libbpf_set_print(before), &print_nothing) << "libbpf's printer is as it was";
}

}  // namespace
}  // namespace bobbin::cli
