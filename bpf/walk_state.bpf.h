/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_WALK_STATE_BPF_H
#define BOBBIN_WALK_STATE_BPF_H

/* Everything a walk knows between two frames. It lives in map memory and not on the BPF stack: each load
 * from a map is an unknown scalar to the verifier, so its loop states meet after a round or two
 * (1,800 instead of 600,000 verified instructions). Writers: the headers that include this. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"
#include "user_registers.bpf.h"

enum {
	/* One bpf_probe_read_user costs 74 ns whatever its size up to here, so a window serves many
	 * frames: 101 ns a frame by exact reads, 28 by 1 KiB; 2 KiB gains nothing when caches are cold. */
	WINDOW_BYTES = 1024,
	WINDOW_WORDS = WINDOW_BYTES / 8,
	KNOWN_MAPPINGS = 8,
	FRAME_SLOTS = 2048, /* both stacks, rounded up: an index is bounded by a mask */
};
_Static_assert(FRAME_SLOTS >= MAX_USER_FRAMES + MAX_KERNEL_FRAMES, "every frame has a slot");

/* A mapping that this sample has met. */
struct known_mapping {
	__u64 vm_start_vaddr;
	__u64 size_bytes;
	__u64 file_offset; /* of vm_start_vaddr */
	__u32 executable_id; /* 0: no file behind it */
	__u32 walk_end; /* enum walk_end: why frames in it cannot be unwound; 0: they can */
	struct executable executable;
};

struct sample_record {
	struct sample_header header;
	frame_word frames[FRAME_SLOTS];
};

struct walk_state {
	__u64 started_ns; /* the tick, CLOCK_MONOTONIC */
	__u64 rip;
	__u64 rsp;
	__u64 rbp;
	__u64 mm; /* address of the mm_struct */
	__u64 vdso; /* where the process has it */
	__u64 window_start_vaddr;
	__u64 window_bytes;
	__u64 stack_start_vaddr; /* the mapping that held rsp when last asked for */
	__u64 stack_bytes;
	__u32 rip_is_return_address; /* else `registers` are those of this frame */
	__u32 rbx_known; /* registers.rbx is this frame's: all rules since the leaf said where it was */
	__u32 by_frame_pointer; /* enum walk_end: had this frame no frame pointer; 0: it is no guess */
	__u32 pid; /* as the agent's /proc shows it */
	__u32 is_out_of_sight; /* it shows none: what nobody else shows us cannot be opened */
	__u32 code; /* the frame's rule */
	__u32 without_cfi; /* enum walk_end: why it has none, if code is CODE_NO_CFI */
	frame_word frame; /* at rip */
	__u32 frame_count; /* kernel and user frames in record */
	__u32 frame_limit;
	__u32 walk_end;
	__u32 ended;
	__u32 current_mapping; /* index in known */
	__u32 known_count;
	__u32 last_known_count; /* of the last walk on this CPU, still in `known` */
	__u32 known_may_be_kept; /* by the next walk, if its key in the rule memory is the same */
	__u32 rule_memory_half; /* in remembered_walks: what the last walk wrote */
	__u32 recall_count; /* frames of the last walk; 0: they do not hold for this one */
	__u32 places_hold; /* what they say of addresses still holds: nothing was mapped meanwhile */
	__u32 recall_at; /* the one to compare with next */
	__u32 recalled;
	__u32 recalled_wrongly; /* only counted with check_rule_memory */
	/* Of the innermost frame or of one that a signal interrupted. Of their callers only rsp and rbp are
	 * known, and rbx where a file needs it: else tables leave out where registers were saved. */
	struct pt_regs registers;
	__u64 window[WINDOW_WORDS];
	struct known_mapping known[KNOWN_MAPPINGS];
	struct sample_record record;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk_state);
} walk_states SEC(".maps");

static __always_inline struct walk_state *this_cpu_walk(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&walk_states, &zero);
}

/* The frame whose registers are all known: innermost, or interrupted by a signal. */
static __always_inline void stand_at_registers(struct walk_state *walk)
{
	walk->rip = walk->registers.rip;
	walk->rsp = walk->registers.rsp;
	walk->rbp = walk->registers.rbp;
	walk->rip_is_return_address = 0;
	walk->rbx_known = 1;
	walk->by_frame_pointer = 0;
}

static __always_inline void start_walk(struct walk_state *walk)
{
	stand_at_registers(walk);
	walk->window_bytes = 0;
	walk->stack_bytes = 0;
	walk->last_known_count = walk->known_count;
	walk->known_count = 0;
	walk->ended = 0;
	/* Stands if the loop runs out of turns. */
	walk->walk_end = WALK_END_TRUNCATED;
}

static __always_inline int end_walk(struct walk_state *walk, enum walk_end why)
{
	walk->walk_end = why;
	walk->ended = 1;
	return 1;
}

#endif
