/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_PAUSE_WALK_BPF_H
#define BOBBIN_PAUSE_WALK_BPF_H

/* A walk that came to a file whose table is still being made: all that user space needs to walk on when
 * it is there, whether or not the process still is. Layout: bobbin/bpf_abi.h, "a walk that waits for a
 * table". */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "copy_stack.bpf.h"
#include "list_mappings.bpf.h"
#include "outcome_counters.bpf.h"
#include "paused_record.bpf.h"
#include "walk_state.bpf.h"

_Static_assert(PAUSED_REGISTERS * 8 == sizeof(struct pt_regs), "all of them");

/* Where the mappings come from. */
enum mapping_source {
	MAPPINGS_OF_TREE,
	MAPPINGS_MET, /* by the walk: the tree is not to be trusted */
};

static __always_inline void describe_walk(struct paused_walk *paused, struct walk_state *walk)
{
	const __u64 *words = (const __u64 *)&walk->registers;

	for (int i = 0; i < PAUSED_REGISTERS; i++)
		paused->registers[i] = words[i];
	paused->rip = walk->rip;
	paused->rsp = walk->rsp;
	paused->rbp = walk->rbp;
	paused->vdso_vaddr = walk->vdso;
	paused->awaited_executable_id = known_at(walk, walk->current_mapping)->executable_id;
	paused->flags = (walk->rip_is_return_address ? PAUSED_AT_RETURN_ADDRESS : 0) |
			(walk->rbx_known ? PAUSED_RBX_KNOWN : 0);
	paused->by_frame_pointer = walk->by_frame_pointer;
}

/* Puts the whole record of the sample together, of which walk->record has the first `frames_bytes`. Its
 * size; 0: it could not be made. */
__noinline int pause_walk(__u32 frames_bytes, __u32 source)
{
	struct paused_record *record = this_cpu_paused_record();
	struct outcome_counters *counters = this_cpu_counters();
	struct walk_state *walk = this_cpu_walk();
	__u32 paused_bytes;

	if (!record || !counters || !walk || frames_bytes > MAX_FRAMES_BYTES)
		return 0;
	describe_walk(&record->walk, walk);
	if (list_mappings(source))
		return 0;
	paused_bytes = sizeof(struct paused_walk) +
		       record->walk.mapping_count * sizeof(struct paused_mapping);
	record->head_bytes = frames_bytes + paused_bytes;
	if (copy_stack(source)) {
		counters->stack_copies_unreadable++;
		return 0;
	}
	barrier_var(frames_bytes);
	barrier_var(paused_bytes);
	if (frames_bytes > MAX_FRAMES_BYTES || paused_bytes > MAX_PAUSED_BYTES)
		return 0;
	walk->record.header.flags |= SAMPLE_HAS_PAUSED_WALK;
	bpf_probe_read_kernel(record->bytes, frames_bytes, &walk->record);
	bpf_probe_read_kernel(record->bytes + frames_bytes, paused_bytes, &record->walk);
	return record->head_bytes + record->walk.stack_bytes;
}

#endif
