/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_WALK_USER_STACK_BPF_H
#define BOBBIN_WALK_USER_STACK_BPF_H

/* One step of a walk: note the frame, find its rule, go to its caller. How steps are repeated is the
 * programs' business: bpf_loop, or tail calls where there is none. */

#include "apply_unwind_rule.bpf.h"
#include "enter_mapping.bpf.h"
#include "find_unwind_entry.bpf.h"
#include "rule_memory.bpf.h"
#include "walk_state.bpf.h"

static __always_inline void note_frame(struct walk_state *walk, frame_word frame)
{
	__u32 count = walk->frame_count;

	if (walk->by_frame_pointer)
		frame |= FRAME_BY_FRAME_POINTER;
	barrier_var(count);
	walk->record.frames[count & (FRAME_SLOTS - 1)] = frame;
	walk->frame_count = count + 1;
}

static __always_inline frame_word file_frame(__u32 executable_id, __u64 file_offset)
{
	return (__u64)executable_id << FRAME_EXECUTABLE_SHIFT |
	       (file_offset & FRAME_FILE_OFFSET_MASK);
}

static __always_inline frame_word anonymous_frame(__u64 vaddr)
{
	return FRAME_IS_ANONYMOUS | (vaddr & FRAME_ANONYMOUS_MASK);
}

/* An address that no known code holds. Of the leaf alone it is sure that it was ever run, and a return
 * address that the frame pointer led to was none. */
static __always_inline int end_outside_code(struct walk_state *walk, __u64 vaddr, enum walk_end why)
{
	if (!walk->rip_is_return_address)
		note_frame(walk, anonymous_frame(vaddr));
	return end_walk(walk, walk->by_frame_pointer ? walk->by_frame_pointer : why);
}

/* Puts the frame and its rule into walk->frame and walk->code. `known_frame`: a place whose rule is
 * `known_code`; 0: none. */
static __always_inline int find_rule(struct walk_state *walk, __u64 vaddr, frame_word known_frame,
				     __u32 known_code)
{
	struct known_mapping *mapping;
	__u64 file_offset;
	int why;

	why = enter_mapping(walk, vaddr);
	barrier_var(why);
	if (why)
		return end_outside_code(walk, vaddr, why);
	mapping = known_at(walk, walk->current_mapping);
	file_offset = vaddr - mapping->vm_start_vaddr + mapping->file_offset;
	walk->frame = mapping->executable_id ? file_frame(mapping->executable_id, file_offset)
					     : anonymous_frame(vaddr);
	walk->code = CODE_NO_CFI;
	walk->without_cfi = WALK_END_NO_CFI;
	if (!mapping->walk_end && mapping->executable_id) {
		if (walk->frame == known_frame) {
			walk->code = known_code;
			walk->recalled++;
		} else {
			walk->code = find_unwind_code(&mapping->executable, file_offset);
		}
	} else if (!mapping->walk_end) {
		walk->without_cfi = WALK_END_ANONYMOUS;
	} else if (mapping->walk_end == WALK_END_FILE_REFUSED) {
		/* It may keep frame pointers, and its callers' files are as good as any. */
		walk->without_cfi = WALK_END_FILE_REFUSED;
	} else {
		/* A file that is still being read will be known in a moment: no guess. */
		note_frame(walk, walk->frame);
		return end_walk(walk, mapping->walk_end);
	}
	return 0;
}

/* By what the last walk remembers or else by the tables. */
static __always_inline int recall_or_find_rule(struct walk_state *walk, struct rule_memory *memory,
					       __u64 vaddr)
{
	int recalled = recall_rule(walk, memory), ended;
	frame_word frame = recalled ? walk->frame : 0;
	__u32 code = walk->code;

	if (recalled && !check_rule_memory && walk->places_hold) {
		walk->recalled++;
		return 0;
	}
	ended = find_rule(walk, vaddr, check_rule_memory ? 0 : frame, code);
	barrier_var(ended);
	if (recalled && check_rule_memory)
		judge_recalled(walk, memory, ended || frame != walk->frame, code != walk->code);
	return ended;
}

/* The frame at walk->rip, then its caller. 1: the walk has ended and walk->walk_end says why.
 * `memory` may be NULL. */
static __always_inline int step_to_caller(struct walk_state *walk, struct rule_memory *memory)
{
	/* A return address is stepped back into the call, which may be a function's last instruction. */
	__u64 vaddr = walk->rip - walk->rip_is_return_address;
	int ended;

	if (!walk->rip)
		return end_walk(walk, WALK_END_BOTTOM);
	if (walk->frame_count >= walk->frame_limit)
		return end_walk(walk, WALK_END_TRUNCATED);
	if (memory && memory->present)
		ended = recall_or_find_rule(walk, memory, vaddr);
	else
		ended = find_rule(walk, vaddr, 0, 0);
	/* verifier: all ways to a rule meet in memory instead of living on as register states */
	barrier_var(ended);
	barrier();
	if (ended)
		return 1;
	note_frame(walk, walk->frame);
	if (memory && memory->present)
		remember_rule(walk, memory);
	return apply_unwind_code(walk, walk->code);
}

#endif
