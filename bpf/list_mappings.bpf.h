/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_LIST_MAPPINGS_BPF_H
#define BOBBIN_LIST_MAPPINGS_BPF_H

/* The executable mappings of a process whose walk waits for a table, lowest first. Files that nobody knew
 * are announced on the way, so that all the tables that the stack may need are made at once. What the walk
 * has met is always in the list: of very many mappings the rest are left out. */

#include "enter_mapping.bpf.h"
#include "find_mapping.bpf.h"
#include "identify_file.bpf.h"
#include "paused_record.bpf.h"
#include "walk_state.bpf.h"

enum {
	MAX_MAPPINGS_VISITED = 512, /* 0.3 us each; a browser's process has 300 to 2,000 */
};

enum list_step {
	LIST_GO_ON,
	LIST_COMPLETE,
	LIST_CUT,
};

static __always_inline __u32 known_mappings(const struct walk_state *walk)
{
	return walk->known_count < KNOWN_MAPPINGS ? walk->known_count : KNOWN_MAPPINGS;
}

/* A free place in the list; NULL: it is full. */
static __always_inline struct paused_mapping *next_in_list(struct paused_record *record)
{
	__u32 count = record->walk.mapping_count;

	barrier_var(count);
	if (count >= MAX_PAUSED_MAPPINGS)
		return NULL;
	record->walk.mapping_count = count + 1;
	return &record->mappings[count];
}

static __always_inline void describe_paused_mapping(const struct walk_state *walk,
						    struct paused_mapping *mapping,
						    struct found_mapping *found)
{
	const struct file_entry *entry;

	mapping->vm_start_vaddr = found->vm_start_vaddr;
	mapping->vm_end_vaddr = found->vm_end_vaddr;
	mapping->file_offset = found->file_offset;
	mapping->executable_id = 0;
	mapping->flags = 0;
	if (found->inode) {
		entry = identify_file(found, walk->pid, ANNOUNCED_BY_SAMPLE);
		if (entry)
			mapping->executable_id = entry->executable_id;
		else
			mapping->flags = PAUSED_FILE_UNKNOWN;
	} else if (found->vm_start_vaddr == walk->vdso) {
		mapping->executable_id = EXECUTABLE_ID_VDSO;
		mapping->file_offset = 0;
	}
}

/* One mapping further in the tree. */
__noinline int list_next_mapping(void)
{
	__u32 lane = LANE_TICK, places_kept = 0;
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct paused_record *record = this_cpu_paused_record();
	struct walk_state *walk = this_cpu_walk();
	struct paused_mapping *mapping;
	struct found_mapping *found;
	int next;

	if (!search || !record || !walk)
		return LIST_CUT;
	next = find_next_mapping(LANE_TICK, walk->mm, record->next_vaddr);
	if (next != NEXT_FOUND)
		return next == NEXT_NONE ? LIST_COMPLETE : LIST_CUT;
	found = &search->found;
	if (found->flags & VM_EXEC) {
		for (__u32 i = 0; i < KNOWN_MAPPINGS; i++) {
			if (i < known_mappings(walk) &&
			    walk->known[i].vm_start_vaddr > found->vm_start_vaddr)
				places_kept++;
		}
		if (record->walk.mapping_count + places_kept >= MAX_PAUSED_MAPPINGS)
			return LIST_CUT;
		mapping = next_in_list(record);
		if (!mapping)
			return LIST_CUT;
		describe_paused_mapping(walk, mapping, found);
	}
	record->next_vaddr = found->vm_end_vaddr;
	return LIST_GO_ON;
}

/* The next one of those that the walk has met. */
__noinline int list_next_known_mapping(void)
{
	struct paused_record *record = this_cpu_paused_record();
	struct walk_state *walk = this_cpu_walk();
	__u64 lowest_vaddr = ~0ULL;
	struct paused_mapping *mapping;
	struct known_mapping *known;
	__u32 index = 0;

	if (!record || !walk)
		return LIST_COMPLETE;
	for (__u32 i = 0; i < KNOWN_MAPPINGS; i++) {
		__u64 vaddr = walk->known[i].vm_start_vaddr;

		if (i < known_mappings(walk) && vaddr >= record->next_vaddr &&
		    vaddr < lowest_vaddr) {
			lowest_vaddr = vaddr;
			index = i;
		}
	}
	if (lowest_vaddr == ~0ULL)
		return LIST_COMPLETE;
	mapping = next_in_list(record);
	if (!mapping)
		return LIST_COMPLETE;
	known = known_at(walk, index);
	mapping->vm_start_vaddr = known->vm_start_vaddr;
	mapping->vm_end_vaddr = known->vm_start_vaddr + known->size_bytes;
	mapping->file_offset = known->file_offset;
	mapping->executable_id = known->executable_id;
	mapping->flags = known->walk_end == WALK_END_FILES_FULL ? PAUSED_FILE_UNKNOWN : 0;
	record->next_vaddr = mapping->vm_end_vaddr;
	return LIST_GO_ON;
}

/* `only_known`: the tree is not to be trusted. verifier: its loops are of calls to global functions, each
 * of which is looked at once, so 5.10 takes them as they are. */
__noinline int list_mappings(__u32 only_known)
{
	struct paused_record *record = this_cpu_paused_record();
	int step = LIST_CUT;

	if (!record)
		return 1;
	record->walk.mapping_count = 0;
	record->next_vaddr = 0;
	if (!only_known) {
		for (int i = 0; i < MAX_MAPPINGS_VISITED; i++) {
			step = list_next_mapping();
			barrier_var(step);
			if (step)
				break;
		}
	}
	if (step == LIST_COMPLETE)
		return 0;
	record->walk.flags |= PAUSED_MAPPINGS_CUT;
	for (int i = 0; i < KNOWN_MAPPINGS; i++) {
		step = list_next_known_mapping();
		barrier_var(step);
		if (step)
			break;
	}
	return 0;
}

#endif
