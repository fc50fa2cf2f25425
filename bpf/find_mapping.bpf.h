/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_FIND_MAPPING_BPF_H
#define BOBBIN_FIND_MAPPING_BPF_H

/* (mm, address) -> the mapping that holds it, read from the kernel's own tree of mappings inside the
 * tick. No lock is taken: every read is a bpf_probe_read_kernel, so a tree that changes underneath
 * gives a wrong pointer at worst, and what comes out is believed only if it claims the address and
 * the mm. Nothing is cached between samples, so exec, fork, dlopen and munmap need no event.
 *
 * The tree is a maple tree since 6.1 and an rbtree before. User space compares this with its own
 * /proc/self/maps before it trusts it (sampler/mapping_self_test). Functions are global so that the
 * verifier looks at each once: inlined into the tick they pass its limit of a million instructions. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"
#include "core_types.h"

/* Who searches. Ticks interrupt the others on the same CPU, so each kind has its own memory. */
enum search_lane {
	LANE_TICK,
	LANE_EXEC,
	LANE_AGENT, /* programs that only the agent runs */
	LANE_COUNT,
};

enum {
	/* include/linux/maple_tree.h, for 64-bit: 256-byte nodes of u64s: parent, pivots, slots */
	MAPLE_NODE_WORDS = 32,
	MAPLE_RANGE_PIVOTS = 15,
	MAPLE_ARANGE_PIVOTS = 9,
	MAPLE_LEAF_64 = 1,
	MAPLE_ARANGE_64 = 3,
	MAPLE_MAX_LEVELS = 8, /* 10^8 mappings */
	RBTREE_MAX_LEVELS = 48,
	GAPS_TO_STEP_OVER = 4, /* one, which may go on in the next node */
};

struct found_mapping {
	__u64 vm_start_vaddr;
	__u64 vm_end_vaddr;
	__u64 file_offset; /* of vm_start_vaddr */
	__u64 flags;
	__u64 inode; /* address of the struct inode; 0: no file behind it */
	struct file_entry file; /* what identify_file() knows of it */
};

struct mapping_search {
	__u64 node[MAPLE_NODE_WORDS];
	__u64 entry; /* encoded node, in the end the vm_area_struct; 0: nothing is there */
	__u64 range_end_vaddr; /* last address below `entry`, inclusive; maple tree only */
	struct found_mapping found;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LANE_COUNT);
	__type(key, __u32);
	__type(value, struct mapping_search);
} mapping_searches SEC(".maps");

enum search_step {
	STEP_DOWN,
	STEP_FOUND,
	STEP_FAILED,
};

/* One level of a maple tree: entry = (node address & ~255) | type << 3 | low bits. The child of an
 * address is the slot of the first pivot >= it. */
__noinline int descend_maple_level(__u32 lane, __u64 address)
{
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	__u64 type, pivots, taken, slot;

	if (!search)
		return STEP_FAILED;
	type = (search->entry >> 3) & 15;
	if (bpf_probe_read_kernel(search->node, sizeof(search->node),
				  (void *)(search->entry & ~255ULL)))
		return STEP_FAILED;
	pivots = type == MAPLE_ARANGE_64 ? MAPLE_ARANGE_PIVOTS : MAPLE_RANGE_PIVOTS;
	taken = pivots;
	for (__u32 i = 0; i < MAPLE_RANGE_PIVOTS; i++) {
		if (i >= pivots)
			break;
		/* An unused pivot is 0 but for the last one in use, which is the node's maximum. */
		if (search->node[1 + i] >= address || (i > 0 && search->node[1 + i] == 0)) {
			taken = i;
			break;
		}
	}
	/* The last range of a node ends where the node does, which may be said further up alone. */
	if (taken < pivots && search->node[1 + taken])
		search->range_end_vaddr = search->node[1 + taken];
	slot = 1 + pivots + taken;
	barrier_var(slot);
	if (slot >= MAPLE_NODE_WORDS)
		return STEP_FAILED;
	search->entry = search->node[slot];
	if (!search->entry)
		return STEP_FAILED;
	return type <= MAPLE_LEAF_64 ? STEP_FOUND : STEP_DOWN;
}

static __always_inline int search_maple(__u32 lane, struct mm_struct *mm, __u64 address)
{
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);

	if (!search)
		return STEP_FAILED;
	search->range_end_vaddr = ~0ULL;
	search->entry = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	/* xa_is_node(): a root that is no node holds the only mapping there is. */
	if ((search->entry & 3) != 2)
		return search->entry > 4096 ? STEP_FOUND : STEP_FAILED;
	for (int level = 0; level < MAPLE_MAX_LEVELS; level++) {
		int step = descend_maple_level(lane, address);

		if (step != STEP_DOWN)
			return step;
	}
	return STEP_FAILED;
}

/* One level of the rbtree of kernels before 6.1; entry = the rb_node, node[0] = the lowest mapping so far
 * that ends above the address. */
__noinline int descend_rbtree_level(__u32 lane, __u64 address)
{
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct vm_area_struct *vma;
	struct rb_node *node;

	/* verifier: before 6.8 it looks at global functions that nobody calls, too */
	if (!bpf_core_field_exists(struct mm_struct___rbtree, mm_rb))
		return STEP_FAILED;
	if (!search)
		return STEP_FAILED;
	if (!search->entry) {
		search->entry = search->node[0];
		return search->entry ? STEP_FOUND : STEP_FAILED;
	}
	node = (void *)search->entry;
	vma = (void *)(search->entry -
		       bpf_core_field_offset(struct vm_area_struct___rbtree, vm_rb));
	if (address >= BPF_CORE_READ(vma, vm_end)) {
		search->entry = (__u64)BPF_CORE_READ(node, rb_right);
		return STEP_DOWN;
	}
	search->node[0] = (__u64)vma;
	search->entry = (__u64)BPF_CORE_READ(node, rb_left);
	if (address < BPF_CORE_READ(vma, vm_start))
		return STEP_DOWN;
	search->entry = (__u64)vma;
	return STEP_FOUND;
}

/* What is found holds the address or is the next one above. */
static __always_inline int search_rbtree(__u32 lane, struct mm_struct *mm, __u64 address)
{
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct mm_struct___rbtree *old = (void *)mm;

	if (!search)
		return STEP_FAILED;
	search->node[0] = 0;
	search->entry = (__u64)BPF_CORE_READ(old, mm_rb.rb_node);
	for (int level = 0; level < RBTREE_MAX_LEVELS; level++) {
		int step = descend_rbtree_level(lane, address);

		if (step != STEP_DOWN)
			return step;
	}
	return STEP_FAILED;
}

/* Fills search->found from the vm_area_struct that search->entry has come to. 0: it is one of this mm. */
static __always_inline int read_mapping(struct mapping_search *search, struct mm_struct *mm)
{
	struct vm_area_struct *vma = (void *)search->entry;
	struct found_mapping *found = &search->found;
	struct file *file;

	if (BPF_CORE_READ(vma, vm_mm) != mm)
		return 1;
	found->vm_start_vaddr = BPF_CORE_READ(vma, vm_start);
	found->vm_end_vaddr = BPF_CORE_READ(vma, vm_end);
	found->file_offset = (__u64)BPF_CORE_READ(vma, vm_pgoff) << PAGE_SHIFT;
	found->flags = BPF_CORE_READ(vma, vm_flags);
	file = BPF_CORE_READ(vma, vm_file);
	found->inode = file ? (__u64)BPF_CORE_READ(file, f_inode) : 0;
	return 0;
}

/* Fills mapping_searches[lane].found. 0: found; 1: no mapping there, or the tree changed while it was
 * read. */
__noinline int find_mapping(__u32 lane, __u64 mm_address, __u64 address)
{
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct mm_struct *mm = (void *)mm_address;
	int step;

	if (!search)
		return 1;
	if (bpf_core_field_exists(struct mm_struct, mm_mt))
		step = search_maple(lane, mm, address);
	else
		step = search_rbtree(lane, mm, address);
	if (step != STEP_FOUND || read_mapping(search, mm))
		return 1;
	return address < search->found.vm_start_vaddr || address >= search->found.vm_end_vaddr;
}

enum next_mapping {
	NEXT_FOUND,
	NEXT_NONE,
	NEXT_UNREADABLE, /* the tree changed while it was read */
};

/* Fills mapping_searches[lane].found with the mapping that holds `address`, or else with the next one
 * above. A maple tree has entries for gaps too: then the search begins anew behind the gap. */
__noinline int find_next_mapping(__u32 lane, __u64 mm_address, __u64 address)
{
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct mm_struct *mm = (void *)mm_address;
	int step = STEP_FAILED;

	if (!search)
		return NEXT_UNREADABLE;
	if (!bpf_core_field_exists(struct mm_struct, mm_mt)) {
		step = search_rbtree(lane, mm, address);
		if (step == STEP_FAILED && !search->entry)
			return NEXT_NONE;
	} else {
		for (int i = 0; i < GAPS_TO_STEP_OVER; i++) {
			step = search_maple(lane, mm, address);
			if (step == STEP_FOUND)
				break;
			if (search->entry || search->range_end_vaddr < address)
				return NEXT_UNREADABLE;
			if (search->range_end_vaddr == ~0ULL)
				return NEXT_NONE;
			address = search->range_end_vaddr + 1;
		}
	}
	if (step != STEP_FOUND || read_mapping(search, mm))
		return NEXT_UNREADABLE;
	/* A root that is no node is found wherever one asks. */
	return address < search->found.vm_end_vaddr ? NEXT_FOUND : NEXT_NONE;
}

#endif
