/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_WALK_USER_STACK_BPF_H
#define BOBBIN_WALK_USER_STACK_BPF_H

/* One step of a walk: note the frame, find its rule, go to its caller. How steps are repeated is the
 * programs' business: bpf_loop, or tail calls where there is none. */

#include "apply_unwind_rule.bpf.h"
#include "enter_mapping.bpf.h"
#include "find_unwind_entry.bpf.h"
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

/* The frame at walk->rip, then its caller. 1: the walk has ended and walk->walk_end says why. */
static __always_inline int step_to_caller(struct walk_state *walk)
{
	/* A return address is stepped back into the call, which may be a function's last instruction. */
	__u64 vaddr = walk->rip - walk->rip_is_return_address, file_offset;
	struct known_mapping *mapping;
	int why;

	if (!walk->rip)
		return end_walk(walk, WALK_END_BOTTOM);
	if (walk->frame_count >= walk->frame_limit)
		return end_walk(walk, WALK_END_TRUNCATED);
	why = enter_mapping(walk, vaddr);
	barrier_var(why);
	if (why) {
		/* Only of the leaf is it sure that the address was ever run. */
		if (!walk->rip_is_return_address)
			note_frame(walk, anonymous_frame(vaddr));
		return end_walk(walk, why);
	}
	mapping = known_at(walk, walk->current_mapping);
	file_offset = vaddr - mapping->vm_start_vaddr + mapping->file_offset;
	if (!mapping->executable_id) {
		note_frame(walk, anonymous_frame(vaddr));
		if (mapping->walk_end)
			return end_walk(walk, mapping->walk_end);
		return follow_frame_pointer(walk, WALK_END_ANONYMOUS);
	}
	note_frame(walk, file_frame(mapping->executable_id, file_offset));
	/* A file that is still being read will be known in a moment: no guess. One that never will be may
	 * keep frame pointers, and its callers' files are as good as any. */
	if (mapping->walk_end == WALK_END_FILE_REFUSED)
		return follow_frame_pointer(walk, WALK_END_FILE_REFUSED);
	if (mapping->walk_end)
		return end_walk(walk, mapping->walk_end);
	/* verifier: all ends of the search meet in memory instead of living on as register states */
	walk->code = find_unwind_code(&mapping->executable, file_offset);
	barrier();
	return apply_unwind_code(walk, walk->code);
}

#endif
