/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_PAUSED_RECORD_BPF_H
#define BOBBIN_PAUSED_RECORD_BPF_H

/* Where the record of a walk that waits for a table is put together: nothing here is touched by a
 * sample that need not wait. Layout of the record: bobbin/bpf_abi.h. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"

enum {
	USER_PAGE_BYTES = 4096,
	MAX_FRAMES_BYTES = sizeof(struct sample_header) +
			   (MAX_KERNEL_FRAMES + MAX_USER_FRAMES) * sizeof(frame_word),
	MAX_PAUSED_BYTES =
		sizeof(struct paused_walk) + MAX_PAUSED_MAPPINGS * sizeof(struct paused_mapping),
	MAX_HEAD_BYTES = MAX_FRAMES_BYTES + MAX_PAUSED_BYTES,
	MAX_PAUSED_RECORD_BYTES = MAX_HEAD_BYTES + MAX_STACK_COPY_BYTES,
};

struct paused_record {
	struct paused_walk walk;
	/* Right behind `walk`: copied as one. */
	struct paused_mapping mappings[MAX_PAUSED_MAPPINGS];
	__u64 next_vaddr; /* where the next mapping is looked for, then the next page of the stack */
	__u64 stack_end_vaddr;
	__u32 head_bytes; /* what stands before the stack */
	__u32 unused;
	/* verifier: a page may be read at any place where the last byte of a stack may be */
	__u8 bytes[MAX_PAUSED_RECORD_BYTES + USER_PAGE_BYTES];
};

/* One a CPU. No per-CPU array: those hold at most 32 KiB. User space sets the number of CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, struct paused_record);
} paused_records SEC(".maps");

static __always_inline struct paused_record *this_cpu_paused_record(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&paused_records, &cpu);
}

#endif
