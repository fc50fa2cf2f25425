// SPDX-License-Identifier: GPL-2.0-only
/* Times functions of the sampling program, to which walk_parts attaches these, and one write of a
 * record, which is a helper and cannot be attached to. */
// clang-format off: bpf_helpers.h needs the types of bpf.h
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on

enum part { PART_TICK, PART_MAPPING, PART_STACK_READS, PART_OUTPUT, PART_CLOCK, PART_COUNT };

enum {
    RECORD_BYTES = 312, /* sample_header and 29 frames: the known chain */
};

struct part_cost {
    __u64 start_ns;
    __u64 total_ns;
    __u64 calls;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, PART_COUNT);
    __type(key, __u32);
    __type(value, struct part_cost);
} part_costs SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 16 << 20); /* nobody reads it */
} records SEC(".maps");

static __always_inline int begin(__u32 part) {
    struct part_cost* cost = bpf_map_lookup_elem(&part_costs, &part);

    if (cost) cost->start_ns = bpf_ktime_get_ns();
    return 0;
}

static __always_inline int end(__u32 part) {
    __u64 now_ns = bpf_ktime_get_ns();
    struct part_cost* cost = bpf_map_lookup_elem(&part_costs, &part);

    if (!cost) return 0;
    cost->total_ns += now_ns - cost->start_ns;
    cost->calls++;
    return 0;
}

SEC("fentry")
int begin_tick(void* ctx) { return begin(PART_TICK); }
SEC("fexit")
int end_tick(void* ctx) { return end(PART_TICK); }

SEC("fentry")
int begin_mapping(void* ctx) { return begin(PART_MAPPING); }
SEC("fexit")
int end_mapping(void* ctx) { return end(PART_MAPPING); }

SEC("fentry")
int begin_stack_read(void* ctx) { return begin(PART_STACK_READS); }
SEC("fexit")
int end_stack_read(void* ctx) { return end(PART_STACK_READS); }

SEC("perf_event")
int write_record(void* ctx) {
    static const char record[RECORD_BYTES];

    begin(PART_CLOCK);
    end(PART_CLOCK);
    begin(PART_OUTPUT);
    bpf_ringbuf_output(&records, (void*)record, sizeof(record), BPF_RB_NO_WAKEUP);
    return end(PART_OUTPUT);
}

char LICENSE[] SEC("license") = "GPL";
