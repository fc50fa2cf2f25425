// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own frame-pointer walk, the yardstick for ours: it does the least a walk can do, two
 * reads of user memory a frame. */
// clang-format off: bpf_helpers.h needs the types of bpf.h
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on

enum {
    MOST_FRAMES = 127, /* kernel.perf_event_max_stack */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64[MOST_FRAMES]);
} frames SEC(".maps");

static __always_inline int walk(void* ctx, __u32 frame_count) {
    __u32 zero = 0;
    __u64* buffer = bpf_map_lookup_elem(&frames, &zero);

    if (buffer) bpf_get_stack(ctx, buffer, frame_count * sizeof(*buffer), BPF_F_USER_STACK);
    return 0;
}

SEC("perf_event")
int walk_all_frames(void* ctx) { return walk(ctx, MOST_FRAMES); }

SEC("perf_event")
int walk_one_frame(void* ctx) { return walk(ctx, 1); }

char LICENSE[] SEC("license") = "GPL";
