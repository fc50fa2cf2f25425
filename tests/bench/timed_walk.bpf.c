// SPDX-License-Identifier: GPL-2.0-only
/* The programs of bpf/, with a look at the clock before and after each part of a sample. The
 * sources are the same: what is timed is a function, and its name is given to a timed one before
 * those that call it are read. A pair of looks costs about as much as an unwinding step, so the
 * sums say which part is dear, and walk_cost what the whole costs. */
// clang-format off: bpf_helpers.h needs the types of bpf.h
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "bench/timed_parts.h"

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, PART_COUNT);
    __type(key, __u32);
    __type(value, struct timed_part);
} timed_parts SEC(".maps");

static __always_inline void add_part(__u32 part, __u64 since_ns) {
    __u64 elapsed_ns = bpf_ktime_get_ns() - since_ns;
    struct timed_part* sum = bpf_map_lookup_elem(&timed_parts, &part);

    if (sum) {
        sum->total_ns += elapsed_ns;
        sum->count++;
    }
}

#define TIMED(part, call)                     \
    ({                                        \
        __u64 since_ns_ = bpf_ktime_get_ns(); \
        typeof(call) result_ = call;          \
        add_part(part, since_ns_);            \
        result_;                              \
    })

/* Helpers: user memory is read by windows, the kernel's stack asked for, the record put out. */
static __always_inline long timed_read_user(void* to, __u32 bytes, const void* from) {
    return TIMED(PART_STACK_READS, bpf_probe_read_user(to, bytes, from));
}
static __always_inline long timed_get_stack(void* ctx, void* to, __u32 bytes, __u64 flags) {
    return TIMED(PART_KERNEL_STACK, bpf_get_stack(ctx, to, bytes, flags));
}
static __always_inline long timed_output(void* ring, void* record, __u64 bytes, __u64 flags) {
    return TIMED(PART_OUTPUT, bpf_ringbuf_output(ring, record, bytes, flags));
}
#define bpf_probe_read_user timed_read_user
#define bpf_get_stack timed_get_stack
#define bpf_ringbuf_output timed_output

#include "enter_mapping.bpf.h"
#include "find_unwind_entry.bpf.h"

static __always_inline int timed_enter_mapping(struct walk_state* walk, __u64 address) {
    return TIMED(PART_MAPPINGS, enter_mapping(walk, address));
}
static __always_inline __u32 timed_find_unwind_code(const struct executable* executable,
                                                    __u64 file_offset) {
    return TIMED(PART_TABLES, find_unwind_code(executable, file_offset));
}
#define enter_mapping timed_enter_mapping
#define find_unwind_code timed_find_unwind_code

#include "begin_sample.bpf.h"
#include "emit_sample.bpf.h"

static __always_inline enum tick_outcome timed_begin_sample(struct bpf_perf_event_data* ctx,
                                                            struct walk_state* walk,
                                                            struct task_struct* task,
                                                            enum task_access access) {
    add_part(PART_CLOCK, bpf_ktime_get_ns());
    return TIMED(PART_BEGIN, begin_sample(ctx, walk, task, access));
}
#define begin_sample timed_begin_sample

#include "profiler.bpf.c"
