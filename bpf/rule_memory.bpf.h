/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_RULE_MEMORY_BPF_H
#define BOBBIN_RULE_MEMORY_BPF_H

/* Between two ticks most of a thread's stack stays as it is. So each walk writes down what it learned of
 * every return address, and the next walk of the same thread on the same CPU runs along that: no mapping,
 * no table, which in real programs are cache misses (a compiler's sample: 31 us without, 19 with).
 *
 * Exact, not a guess: nothing is assumed of the stack, whose words are read as ever. A rule depends on
 * the place in a file alone, so where the mapping of an address says the same place as then, the table
 * need not be asked: that always holds, and saves the dearest half.
 *
 * The place depends on the address and the mappings. mm->mm_lock_seq stands still while these do, and
 * then they need not be asked either: since 6.13 it is odd while somebody holds mmap_lock for writing, which all of mmap,
 * munmap, mremap and mprotect do, and even again when that is given back or downgraded. From 6.4 on it
 * only moves on at the end; whether somebody holds the lock is then read from the lock. Kernels without
 * the number (before, or without CONFIG_PER_VMA_LOCK) have the first half only, as has a program that
 * maps memory all the time, such as a compiler.
 *
 * For the same reason the mappings that the last walk met need not be looked for again, if all of them
 * could be unwound: what was still being read may be ready now.
 *
 * An open file that is overwritten in place stays what it was when its mapping was first met. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"
#include "core_types.h"
#include "outcome_counters.bpf.h"
#include "walk_state.bpf.h"

/* Set by user space before loading. */
const volatile __u32 use_rule_memory = 1;
/* Asks the tables too, at every hit, and counts where they say something else. */
const volatile __u32 check_rule_memory = 0;

/* User space moves it on when it takes a table away: rules and ids from before are void. */
__u64 rule_generation;

enum {
	MAX_RECALL_STEPS = 8, /* frames of the last walk that one of this walk may skip */
	POSITION_SHIFT = 16,
};

/* Whose rules, and as of when. */
struct rule_memory_key {
	__u32 tid;
	__u32 mappings; /* mm->mm_lock_seq, plus one; 0: nothing says that they are as they were */
	__u64 thread_start_boot_ns; /* a tid comes again */
	__u64 exec_count;
	__u64 mm;
	__u64 generation;
};

struct remembered_frame {
	__u64 position_and_code; /* rsp << POSITION_SHIFT | code */
	__u64 return_address;
	frame_word frame;
};

struct remembered_walk {
	struct rule_memory_key key;
	__u32 count;
	__u32 unused;
	struct remembered_frame frames[MAX_USER_FRAMES]; /* 24 KiB; per CPU 32 are allowed */
};

/* What the last walk wrote and what this one writes: they change places. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct remembered_walk);
} remembered_walks SEC(".maps");

struct rule_memory {
	const struct remembered_walk *last;
	struct remembered_walk *present; /* NULL: this walk goes without */
};

/* 0: they are being changed, or nothing says whether they are. Even as a sequence, plus one. */
static __always_inline __u32 read_mappings_stamp(struct mm_struct *mm)
{
	struct mm_struct___6_4 *older = (void *)mm;
	__u32 stamp;

	if (bpf_core_field_exists(mm->mm_lock_seq.sequence)) {
		stamp = mm->mm_lock_seq.sequence;
		return stamp & 1 ? 0 : stamp + 1;
	}
	if (bpf_core_field_exists(older->mm_lock_seq) &&
	    bpf_core_field_exists(older->mmap_lock.count.counter)) {
		stamp = older->mm_lock_seq;
		barrier();
		return older->mmap_lock.count.counter & RWSEM_WRITER_LOCKED ? 0 : stamp + 1;
	}
	return 0;
}

static __always_inline int is_same_key(const struct rule_memory_key *a,
				       const struct rule_memory_key *b)
{
	return a->tid == b->tid && a->thread_start_boot_ns == b->thread_start_boot_ns &&
	       a->exec_count == b->exec_count && a->mm == b->mm && a->generation == b->generation;
}

/* Of the current thread. */
static __always_inline void open_rule_memory(struct walk_state *walk, struct rule_memory *memory)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rule_memory_key key = {.tid = task->pid};
	__u32 half = walk->rule_memory_half & 1, other = half ^ 1, may_keep;

	walk->recall_count = 0;
	walk->places_hold = 0;
	walk->recall_at = 0;
	walk->recalled = 0;
	walk->recalled_wrongly = 0;
	may_keep = walk->known_may_be_kept;
	walk->known_may_be_kept = 0;
	if (!use_rule_memory)
		return;
	key.mappings = read_mappings_stamp(task->mm);
	key.thread_start_boot_ns = task->start_boottime;
	key.exec_count = task->self_exec_id;
	key.mm = walk->mm;
	key.generation = rule_generation;
	memory->last = bpf_map_lookup_elem(&remembered_walks, &half);
	memory->present = bpf_map_lookup_elem(&remembered_walks, &other);
	if (!memory->last || !memory->present) {
		memory->present = NULL;
		return;
	}
	if (is_same_key(&key, &memory->last->key)) {
		walk->recall_count = memory->last->count;
		walk->places_hold = key.mappings && key.mappings == memory->last->key.mappings;
		if (may_keep && walk->places_hold)
			walk->known_count = walk->last_known_count;
	}
	walk->known_may_be_kept = !check_rule_memory;
	memory->present->key = key;
	memory->present->count = 0;
	walk->rule_memory_half = other;
}

/* 1: walk->code and walk->frame are what the last walk found for walk->rip: true as they are if the
 * places hold, else if rip is still at that place. */
static __always_inline int recall_rule(struct walk_state *walk, const struct rule_memory *memory)
{
	__u64 position = walk->rsp << POSITION_SHIFT;
	const struct remembered_frame *remembered;
	__u32 at = walk->recall_at;

	if (!walk->rip_is_return_address)
		return 0;
	for (int i = 0; i < MAX_RECALL_STEPS; i++) {
		barrier_var(at);
		remembered = &memory->last->frames[at & (MAX_USER_FRAMES - 1)];
		if (at >= walk->recall_count || remembered->position_and_code >= position)
			break;
		at++;
	}
	walk->recall_at = at;
	barrier_var(at);
	remembered = &memory->last->frames[at & (MAX_USER_FRAMES - 1)];
	if (at >= walk->recall_count || remembered->return_address != walk->rip)
		return 0;
	walk->code = remembered->position_and_code & ((1 << POSITION_SHIFT) - 1);
	walk->frame = remembered->frame;
	walk->without_cfi = WALK_END_NO_CFI;
	return 1;
}

/* The walk went on by the tables' word, not by what was remembered. A wrong rule for the same place is
 * always wrong, another place only if the mappings were the same from the start of the walk until now. */
static __always_inline void judge_recalled(struct walk_state *walk,
					   const struct rule_memory *memory, int is_other_place,
					   int is_other_code)
{
	if (!is_other_place) {
		walk->recalled++;
		walk->recalled_wrongly += is_other_code;
	} else if (walk->places_hold && read_mappings_stamp(bpf_get_current_task_btf()->mm) ==
						memory->present->key.mappings) {
		walk->recalled_wrongly++;
	}
}

static __always_inline void count_recalled(const struct walk_state *walk)
{
	struct outcome_counters *counters = this_cpu_counters();

	if (!counters)
		return;
	counters->rule_memory_hits += walk->recalled;
	counters->rule_memory_differences += walk->recalled_wrongly;
}

static __always_inline void remember_rule(const struct walk_state *walk, struct rule_memory *memory)
{
	__u32 count = memory->present->count;
	struct remembered_frame *remembered;

	/* Only what a table said. */
	if (!walk->rip_is_return_address || walk->without_cfi != WALK_END_NO_CFI)
		return;
	barrier_var(count);
	if (count >= MAX_USER_FRAMES)
		return;
	remembered = &memory->present->frames[count];
	remembered->position_and_code = walk->rsp << POSITION_SHIFT | (walk->code & 0xffff);
	remembered->return_address = walk->rip;
	remembered->frame = walk->frame;
	memory->present->count = count + 1;
}

#endif
