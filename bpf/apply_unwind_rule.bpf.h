/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_APPLY_UNWIND_RULE_BPF_H
#define BOBBIN_APPLY_UNWIND_RULE_BPF_H

/* Code + registers -> the caller's registers. The only place that knows CFA arithmetic.
 * System V psABI 3.2.2: the return address stands right below the CFA, at cfa - 8. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"
#include "outcome_counters.bpf.h"
#include "walk_state.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_SPECIAL_RULES);
	__type(key, __u32);
	__type(value, struct special_rule);
} special_rules SEC(".maps");

enum {
	/* A frame of a function without CFI that is larger than this is taken for a stray rbp. */
	MAX_FRAME_POINTER_STRIDE_BYTES = 1 << 20,
	/* struct rt_sigframe after the handler's return: ucontext at rsp; uc_mcontext at 40 in it,
	 * rbp, rsp and rip at 80, 120 and 128 in that (asm/sigcontext.h, struct sigcontext_64). */
	UCONTEXT_RBP = 40 + 80,
	UCONTEXT_RSP = 40 + 120,
	UCONTEXT_RIP = 40 + 128,
};

/* Reads stack memory upwards from `at_vaddr`, but never into a page that is not needed: the page behind
 * the end of a stack would fault, which costs 4.7 us and gives nothing. */
__noinline int fill_window(__u64 at_vaddr, __u32 needed_bytes)
{
	struct walk_state *walk = this_cpu_walk();
	struct outcome_counters *counters = this_cpu_counters();
	__u64 end_vaddr, size;

	if (!walk || !counters)
		return 1;
	counters->stack_windows_read++;
	end_vaddr = ((at_vaddr + needed_bytes - 1) | 4095) + 1;
	size = end_vaddr - at_vaddr;
	if (size > WINDOW_BYTES)
		size = WINDOW_BYTES;
	barrier_var(size);
	if (size > WINDOW_BYTES)
		return 1;
	walk->window_start_vaddr = at_vaddr;
	walk->window_bytes = size;
	if (bpf_probe_read_user(walk->window, (__u32)size, (void *)at_vaddr)) {
		walk->window_bytes = 0;
		return 1;
	}
	return 0;
}

static __always_inline int step_to(struct walk_state *walk, __u64 rip, __u64 rsp, __u64 rbp)
{
	walk->rip = rip;
	walk->rsp = rsp;
	walk->rbp = rbp;
	walk->rip_is_return_address = 1;
	walk->by_frame_pointer = 0;
	return 0;
}

/* The code that the kernel enters, ld.so's _start, has no CFI: it is known by rsp, which still stands
 * where the kernel put argc. */
static __always_inline int is_process_entry(const struct walk_state *walk)
{
	struct mm_struct *mm = (void *)walk->mm;

	return walk->rsp == BPF_CORE_READ(mm, start_stack);
}

/* No CFI here: [rbp] = caller's rbp, [rbp + 8] = return address, if rbp looks like a frame pointer. */
static __always_inline int follow_frame_pointer(struct walk_state *walk, enum walk_end otherwise)
{
	struct {
		__u64 rbp;
		__u64 return_address;
	} saved;

	if (is_process_entry(walk))
		return end_walk(walk, WALK_END_BOTTOM);
	if (walk->rbp & 7 || walk->rbp < walk->rsp ||
	    walk->rbp - walk->rsp > MAX_FRAME_POINTER_STRIDE_BYTES)
		return end_walk(walk, otherwise);
	if (bpf_probe_read_user(&saved, sizeof(saved), (void *)walk->rbp))
		return end_walk(walk, otherwise);
	step_to(walk, saved.return_address, walk->rbp + 16, saved.rbp);
	walk->by_frame_pointer = 1;
	return 0;
}

static __always_inline int cross_signal_frame(struct walk_state *walk)
{
	struct {
		__u64 rbp;
		__u64 between[(UCONTEXT_RSP - UCONTEXT_RBP) / 8 - 1];
		__u64 rsp;
		__u64 rip;
	} saved;

	if (bpf_probe_read_user(&saved, sizeof(saved), (void *)(walk->rsp + UCONTEXT_RBP)))
		return end_walk(walk, WALK_END_STACK_UNREADABLE);
	step_to(walk, saved.rip, saved.rsp, saved.rbp);
	/* The interrupted instruction itself, not one behind a call. */
	walk->rip_is_return_address = 0;
	return 0;
}

static __always_inline int special_cfa(struct walk_state *walk, const struct special_rule *rule,
				       __u64 *cfa)
{
	__u64 at;

	switch (rule->cfa) {
	case SPECIAL_CFA_RSP:
		*cfa = walk->rsp + rule->cfa_offset;
		return 0;
	case SPECIAL_CFA_RBP:
		*cfa = walk->rbp + rule->cfa_offset;
		return 0;
	case SPECIAL_CFA_PLT:
		/* The stub's push is done from byte `cfa_offset` of its 16 on. */
		*cfa = walk->rsp + 8 + ((walk->rip & 15) >= (__u64)rule->cfa_offset ? 8 : 0);
		return 0;
	case SPECIAL_CFA_DEREF_RSP:
	case SPECIAL_CFA_DEREF_RBP:
		at = (rule->cfa == SPECIAL_CFA_DEREF_RSP ? walk->rsp : walk->rbp) +
		     rule->cfa_offset;
		if (bpf_probe_read_user(cfa, sizeof(*cfa), (void *)at))
			return end_walk(walk, WALK_END_STACK_UNREADABLE);
		*cfa += rule->cfa_addend;
		return 0;
	case SPECIAL_CFA_REGISTER:
		return end_walk(walk, WALK_END_REGISTER_UNKNOWN);
	default:
		return end_walk(walk, WALK_END_UNSUPPORTED_RULE);
	}
}

static __always_inline int special_rbp(struct walk_state *walk, const struct special_rule *rule,
				       __u64 cfa, __u64 *rbp)
{
	__u64 at;

	*rbp = walk->rbp;
	switch (rule->rbp) {
	case SPECIAL_RBP_SAME:
		return 0;
	case SPECIAL_RBP_AT_CFA:
		at = cfa + rule->rbp_offset;
		break;
	case SPECIAL_RBP_AT_RBP:
		at = walk->rbp + rule->rbp_offset;
		break;
	default:
		*rbp = 0;
		return 0;
	}
	if (bpf_probe_read_user(rbp, sizeof(*rbp), (void *)at))
		return end_walk(walk, WALK_END_STACK_UNREADABLE);
	return 0;
}

/* Everything rare: 0.26 % of rows. Out of line, so that it costs nothing when not used. */
static __noinline int apply_special_rule(struct walk_state *walk, __u32 index)
{
	struct special_rule *rule;
	__u64 cfa, rbp, return_address;

	if (index == 0)
		return follow_frame_pointer(walk, WALK_END_NO_CFI);
	rule = bpf_map_lookup_elem(&special_rules, &index);
	if (!rule)
		return end_walk(walk, WALK_END_UNSUPPORTED_RULE);
	if (rule->return_address == SPECIAL_RA_UNDEFINED)
		return end_walk(walk, WALK_END_BOTTOM);
	if (rule->cfa == SPECIAL_CFA_SIGNAL_FRAME)
		return cross_signal_frame(walk);
	if (rule->return_address == SPECIAL_RA_REGISTER)
		return end_walk(walk, WALK_END_REGISTER_UNKNOWN);
	if (rule->return_address != SPECIAL_RA_AT_CFA)
		return end_walk(walk, WALK_END_UNSUPPORTED_RULE);
	if (special_cfa(walk, rule, &cfa) || special_rbp(walk, rule, cfa, &rbp))
		return 1;
	if (cfa <= walk->rsp || cfa & 7)
		return end_walk(walk, WALK_END_IMPOSSIBLE_FRAME);
	if (bpf_probe_read_user(&return_address, 8, (void *)(cfa + rule->ra_offset)))
		return end_walk(walk, WALK_END_STACK_UNREADABLE);
	return step_to(walk, return_address, cfa, rbp);
}

/* cfa            = (rbp or rsp) + 8 * cfa_words
 * return address = *(cfa - 8)
 * caller's rsp   = cfa
 * caller's rbp   = slot ? *(cfa - 8 - 8 * slot) : rbp
 * One window holds both words, which lie slot words apart. */
static __always_inline int apply_unwind_code(struct walk_state *walk, __u32 code)
{
	__u32 slot = code >> CODE_RBP_SLOT_SHIFT & CODE_RBP_SLOT_MASK;
	__u64 base, cfa, lowest, in_window;
	__u32 needed_bytes = 8 + 8 * slot, word;

	if (slot == CODE_RBP_SLOT_SPECIAL)
		return apply_special_rule(walk, (code & CODE_CFA_WORDS_MASK) |
							(code & CODE_BASE_RBP) >> 3);
	base = code & CODE_BASE_RBP ? walk->rbp : walk->rsp;
	cfa = base + ((code & CODE_CFA_WORDS_MASK) << 3);
	if (cfa <= walk->rsp || cfa & 7)
		return end_walk(walk, WALK_END_IMPOSSIBLE_FRAME);
	lowest = cfa - needed_bytes;
	in_window = lowest - walk->window_start_vaddr;
	if (in_window + needed_bytes > walk->window_bytes || in_window >= WINDOW_BYTES) {
		if (fill_window(lowest, needed_bytes))
			return end_walk(walk, WALK_END_STACK_UNREADABLE);
		in_window = 0;
	}
	word = in_window >> 3;
	barrier_var(word);
	word &= WINDOW_WORDS - 1;
	if (slot)
		walk->rbp = walk->window[word];
	word += slot;
	barrier_var(word);
	walk->rip = walk->window[word & (WINDOW_WORDS - 1)];
	walk->rsp = cfa;
	walk->rip_is_return_address = 1;
	walk->by_frame_pointer = 0;
	return 0;
}

#endif
