/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_COPY_STACK_BPF_H
#define BOBBIN_COPY_STACK_BPF_H

/* The stack from its red zone to its end, as far as it is in memory. A read gives all or nothing, and a large
 * array has pages that nobody has touched: if the whole cannot be read at once, every page is tried. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "core_types.h"
#include "find_mapping.bpf.h"
#include "paused_record.bpf.h"
#include "walk_state.bpf.h"

enum {
	/* Above argc: nothing but the first arguments, for those who look at words above their frame. */
	BYTES_ABOVE_PROCESS_ENTRY = 256,
	/* Below rsp: behind `pop %rbp` the CFI still says that rbp is saved at cfa - 16 = rsp - 8. The
	 * psABI's red zone (figure 3.3): nothing writes there before the thread runs again. */
	RED_ZONE_BYTES = 128,
	MAX_STACK_PAGES = MAX_STACK_SPAN_BYTES / USER_PAGE_BYTES + 1, /* begun in a page's middle */
	BLOCKS_IN_PAGE = USER_PAGE_BYTES / STACK_BLOCK_BYTES,
};

/* Behind the stack's last word. The main thread's frames end where the kernel put argc; other stacks, those
 * of threads and coroutines, at the end of their mapping. rsp may lie below its mapping: the kernel lets
 * that grow when a new frame is first touched. */
__noinline int find_end_of_stack(__u32 without_tree)
{
	__u32 lane = LANE_TICK;
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct paused_record *record = this_cpu_paused_record();
	struct walk_state *walk = this_cpu_walk();
	__u64 end_vaddr, entry_rsp;
	struct mm_struct *mm;

	if (!search || !record || !walk)
		return 1;
	end_vaddr = walk->rsp + MAX_STACK_SPAN_BYTES;
	if (!without_tree && find_next_mapping(LANE_TICK, walk->mm, walk->rsp) == NEXT_FOUND)
		end_vaddr = search->found.vm_end_vaddr;
	mm = (void *)walk->mm;
	entry_rsp = BPF_CORE_READ(mm, start_stack);
	record->walk.start_stack_vaddr = entry_rsp;
	if (entry_rsp >= walk->rsp && entry_rsp + BYTES_ABOVE_PROCESS_ENTRY < end_vaddr)
		end_vaddr = entry_rsp + BYTES_ABOVE_PROCESS_ENTRY;
	record->stack_end_vaddr = end_vaddr & ~7ULL;
	return 0;
}

/* With the red zone, as far as it is in rsp's page: the one below may never have been touched. */
static __always_inline __u64 start_of_copy(__u64 rsp)
{
	__u64 from_vaddr = rsp - RED_ZONE_BYTES;

	if ((from_vaddr ^ rsp) & ~(USER_PAGE_BYTES - 1ULL))
		from_vaddr = rsp & ~(USER_PAGE_BYTES - 1ULL);
	return from_vaddr;
}

static __always_inline void begin_copy(struct paused_record *record, __u64 from_vaddr)
{
	__u64 bytes = record->stack_end_vaddr - from_vaddr;

	record->walk.stack_vaddr = from_vaddr;
	record->walk.stack_span_bytes = bytes < MAX_STACK_SPAN_BYTES ? bytes : MAX_STACK_SPAN_BYTES;
	record->walk.stack_bytes = 0;
	for (int i = 0; i < MAX_STACK_BLOCKS / 64; i++)
		record->walk.present[i] = 0;
}

/* verifier: `at_bytes` and `bytes` are bounded each alone, and the sum of their bounds fits. */
static __always_inline long read_to_record(struct paused_record *record, __u32 at_bytes,
					   __u32 bytes, __u32 max_bytes, __u64 vaddr)
{
	barrier_var(at_bytes);
	barrier_var(bytes);
	if (at_bytes > sizeof(record->bytes) - max_bytes || bytes > max_bytes)
		return 1;
	return bpf_probe_read_user(record->bytes + at_bytes, bytes, (void *)vaddr);
}

/* 0: done, with one read. */
__noinline int copy_stack_at_once(void)
{
	struct paused_record *record = this_cpu_paused_record();
	struct walk_state *walk = this_cpu_walk();
	__u32 bytes, blocks;

	if (!record || !walk)
		return 1;
	begin_copy(record, start_of_copy(walk->rsp) & ~7ULL);
	bytes = record->walk.stack_span_bytes;
	if (read_to_record(record, record->head_bytes, bytes, MAX_STACK_COPY_BYTES,
			   record->walk.stack_vaddr))
		return 1;
	blocks = (bytes + STACK_BLOCK_BYTES - 1) / STACK_BLOCK_BYTES;
	record->walk.present[0] = blocks ? ~0ULL >> ((64 - blocks) & 63) : 0;
	record->walk.stack_bytes = bytes;
	return 0;
}

static __always_inline void mark_present(struct paused_record *record, __u32 first_block,
					 __u32 count)
{
	for (__u32 i = 0; i < BLOCKS_IN_PAGE; i++) {
		__u32 block = first_block + i, word = block / 64;

		if (i >= count)
			break;
		barrier_var(word);
		record->walk.present[word & (MAX_STACK_BLOCKS / 64 - 1)] |= 1ULL << (block & 63);
	}
}

/* What is left of the page that record->next_vaddr is in. 1: no more is wanted. */
__noinline int copy_stack_page(void)
{
	struct paused_record *record = this_cpu_paused_record();
	__u64 from_vaddr, to_vaddr, end_vaddr;
	__u32 bytes, room;

	if (!record)
		return 1;
	from_vaddr = record->next_vaddr;
	to_vaddr = (from_vaddr | (USER_PAGE_BYTES - 1)) + 1;
	end_vaddr = record->walk.stack_vaddr + record->walk.stack_span_bytes;
	if (to_vaddr > end_vaddr)
		to_vaddr = end_vaddr;
	bytes = to_vaddr - from_vaddr;
	room = MAX_STACK_COPY_BYTES - record->walk.stack_bytes;
	if (bytes > room)
		bytes = room;
	record->next_vaddr = to_vaddr;
	if (!read_to_record(record, record->head_bytes + record->walk.stack_bytes, bytes,
			    USER_PAGE_BYTES, from_vaddr)) {
		mark_present(record, (from_vaddr - record->walk.stack_vaddr) / STACK_BLOCK_BYTES,
			     (bytes + STACK_BLOCK_BYTES - 1) / STACK_BLOCK_BYTES);
		record->walk.stack_bytes += bytes;
	}
	return to_vaddr >= end_vaddr || record->walk.stack_bytes >= MAX_STACK_COPY_BYTES;
}

/* Puts the stack behind the first record->head_bytes. 0: at least some of it. */
__noinline int copy_stack(__u32 without_tree)
{
	struct paused_record *record = this_cpu_paused_record();
	struct walk_state *walk = this_cpu_walk();
	int done;

	if (!record || !walk || find_end_of_stack(without_tree))
		return 1;
	done = copy_stack_at_once();
	barrier_var(done);
	if (done == 0)
		return record->walk.stack_bytes == 0;
	/* Blocks that lie in one page each: none is lost for its neighbour's sake. */
	begin_copy(record, start_of_copy(walk->rsp) & ~(STACK_BLOCK_BYTES - 1ULL));
	record->next_vaddr = record->walk.stack_vaddr;
	for (int i = 0; i < MAX_STACK_PAGES; i++) {
		done = copy_stack_page();
		barrier_var(done);
		if (done)
			break;
	}
	return record->walk.stack_bytes == 0;
}

#endif
