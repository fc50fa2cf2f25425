/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_ENTER_MAPPING_BPF_H
#define BOBBIN_ENTER_MAPPING_BPF_H

/* Address -> the known_mapping the walk now stands in. A stack touches 2 to 5 modules, so eight are
 * remembered for the length of the sample, or longer where the rule memory says that nothing has
 * changed, and the tree is searched once for each (0.35 us). */

#include "find_mapping.bpf.h"
#include "find_unwind_entry.bpf.h"
#include "identify_file.bpf.h"
#include "walk_state.bpf.h"

static __always_inline struct known_mapping *known_at(struct walk_state *walk, __u32 index)
{
	barrier_var(index);
	return &walk->known[index & (KNOWN_MAPPINGS - 1)];
}

static __always_inline int holds(const struct known_mapping *mapping, __u64 address)
{
	return address - mapping->vm_start_vaddr < mapping->size_bytes;
}

/* Why frames of `entry`'s file cannot be unwound now; 0 if they can. */
static __always_inline __u32 readiness(const struct file_entry *entry)
{
	switch (entry->state) {
	case FILE_READY:
		return 0;
	case FILE_REFUSED:
		return WALK_END_FILE_REFUSED;
	case FILE_NO_ROOM:
		return WALK_END_NO_ROOM;
	default:
		return WALK_END_FILE_NOT_READY;
	}
}

static __always_inline void describe_file(const struct walk_state *walk,
					  struct known_mapping *mapping,
					  struct found_mapping *found)
{
	const struct file_entry *entry = identify_file(found, walk->pid, ANNOUNCED_BY_SAMPLE);

	mapping->executable_id = 0;
	mapping->walk_end =
		walk->is_out_of_sight ? WALK_END_FILE_OUT_OF_SIGHT : WALK_END_FILES_FULL;
	if (entry) {
		mapping->executable_id = entry->executable_id;
		mapping->walk_end = readiness(entry);
	}
}

static __always_inline void read_geometry(struct known_mapping *mapping)
{
	__u32 place = mapping->executable_id % MAX_EXECUTABLES;
	struct executable *executable = bpf_map_lookup_elem(&executables, &place);

	if (!executable || !executable->is_ready) {
		mapping->walk_end = WALK_END_FILE_NOT_READY;
		return;
	}
	barrier();
	mapping->executable = *executable;
}

static __always_inline void describe_mapping(struct walk_state *walk, struct known_mapping *mapping,
					     struct found_mapping *found)
{
	mapping->vm_start_vaddr = found->vm_start_vaddr;
	mapping->size_bytes = found->vm_end_vaddr - found->vm_start_vaddr;
	mapping->file_offset = found->file_offset;
	mapping->walk_end = 0;
	mapping->executable_id = 0;
	if (found->inode) {
		describe_file(walk, mapping, found);
	} else if (found->vm_start_vaddr == walk->vdso) {
		mapping->executable_id = EXECUTABLE_ID_VDSO;
		mapping->file_offset = 0;
	}
	if (mapping->executable_id && !mapping->walk_end)
		read_geometry(mapping);
	if (mapping->walk_end)
		walk->known_may_be_kept = 0;
}

/* Searches the tree and remembers what it found. 0, or the reason to end the walk. */
__noinline int meet_mapping(__u64 address)
{
	__u32 lane = LANE_TICK;
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct walk_state *walk = this_cpu_walk();
	struct outcome_counters *counters = this_cpu_counters();
	__u32 index;

	if (!search || !walk || !counters)
		return WALK_END_MAPPING_UNREADABLE;
	counters->mappings_found++;
	if (find_mapping(LANE_TICK, walk->mm, address))
		return WALK_END_NO_MAPPING;
	if (!(search->found.flags & VM_EXEC))
		return WALK_END_NO_MAPPING;
	index = walk->known_count++ & (KNOWN_MAPPINGS - 1);
	walk->current_mapping = index;
	describe_mapping(walk, known_at(walk, index), &search->found);
	return 0;
}

/* Makes walk->current_mapping the one that holds `address`. 0, or the reason to end the walk. */
static __always_inline int enter_mapping(struct walk_state *walk, __u64 address)
{
	__u32 count = walk->known_count;

	if (count && holds(known_at(walk, walk->current_mapping), address))
		return 0;
	for (__u32 i = 0; i < KNOWN_MAPPINGS; i++) {
		if (i < count && holds(&walk->known[i], address)) {
			walk->current_mapping = i;
			return 0;
		}
	}
	return meet_mapping(address);
}

#endif
