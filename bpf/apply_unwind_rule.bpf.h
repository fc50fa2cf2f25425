/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_APPLY_UNWIND_RULE_BPF_H
#define BOBBIN_APPLY_UNWIND_RULE_BPF_H

/* Code + registers -> the caller's registers. The only place that knows CFA arithmetic.
 * System V psABI 3.2.2: the return address stands right below the CFA, at cfa - 8. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <asm/sigcontext.h>
#include <stddef.h>

#include "bobbin/bpf_abi.h"
#include "find_mapping.bpf.h"
#include "outcome_counters.bpf.h"
#include "walk_state.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_SPECIAL_RULES);
	__uint(map_flags, BPF_F_MMAPABLE); /* the agent's own walker reads it */
	__type(key, __u32);
	__type(value, struct special_rule);
} special_rules SEC(".maps");

enum {
	/* A frame of a function without CFI that is larger than this is taken for a stray rbp. */
	MAX_FRAME_POINTER_STRIDE_BYTES = 1 << 20,
	/* Behind the handler's return rsp points to the struct ucontext; uc_mcontext is at 40 in it. */
	UCONTEXT_REGISTERS = 40,
	SIGCONTEXT_REGISTER_BYTES = 17 * 8, /* r8 to rip */
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
	walk->rbx_known = 0;
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

/* Makes walk->stack_* the mapping that holds rsp. 0: there is one. */
__noinline int find_stack(void)
{
	__u32 lane = LANE_TICK;
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct walk_state *walk = this_cpu_walk();

	if (!search || !walk || find_mapping(LANE_TICK, walk->mm, walk->rsp))
		return 1;
	walk->stack_start_vaddr = search->found.vm_start_vaddr;
	walk->stack_bytes = search->found.vm_end_vaddr - search->found.vm_start_vaddr;
	return 0;
}

/* Could rbp be a frame pointer? Aligned, not below rsp, not far above it, and with the two words that it
 * points to on the stack that rsp is on. */
static __always_inline int rbp_is_plausible(struct walk_state *walk)
{
	int unknown = 0;

	if (walk->rbp & 7 || walk->rbp < walk->rsp ||
	    walk->rbp - walk->rsp > MAX_FRAME_POINTER_STRIDE_BYTES)
		return 0;
	if (walk->rsp - walk->stack_start_vaddr >= walk->stack_bytes)
		unknown = find_stack();
	barrier_var(unknown);
	return !unknown && walk->rbp + 16 - walk->stack_start_vaddr <= walk->stack_bytes;
}

/* No CFI here: [rbp] = caller's rbp, [rbp + 8] = return address, if rbp looks like a frame pointer. Should
 * no code be there, the next step takes the guess back. */
static __always_inline int follow_frame_pointer(struct walk_state *walk)
{
	enum walk_end otherwise = walk->without_cfi;
	struct {
		__u64 rbp;
		__u64 return_address;
	} saved;

	if (is_process_entry(walk))
		return end_walk(walk, WALK_END_BOTTOM);
	if (!rbp_is_plausible(walk))
		return end_walk(walk, otherwise);
	if (bpf_probe_read_user(&saved, sizeof(saved), (void *)walk->rbp))
		return end_walk(walk, otherwise);
	step_to(walk, saved.return_address, walk->rbp + 16, saved.rbp);
	walk->by_frame_pointer = otherwise;
	return 0;
}

/* A handler's return address is the trampoline's first instruction and not the one behind a call. */
static __always_inline void put_last_frame_on_its_first_instruction(struct walk_state *walk)
{
	__u32 last = walk->frame_count - 1;

	barrier_var(last);
	walk->record.frames[last & (FRAME_SLOTS - 1)] += walk->rip_is_return_address;
}

/* The kernel saved all registers of the interrupted frame. It may be on another stack than the handler
 * (SA_ONSTACK), above or below. */
static __always_inline int cross_signal_frame(struct walk_state *walk)
{
	const struct sigcontext *saved = (const void *)walk->window;
	struct pt_regs *registers = &walk->registers;

	if (fill_window(walk->rsp + UCONTEXT_REGISTERS, SIGCONTEXT_REGISTER_BYTES))
		return end_walk(walk, WALK_END_STACK_UNREADABLE);
	put_last_frame_on_its_first_instruction(walk);
	registers->r8 = saved->r8;
	registers->r9 = saved->r9;
	registers->r10 = saved->r10;
	registers->r11 = saved->r11;
	registers->r12 = saved->r12;
	registers->r13 = saved->r13;
	registers->r14 = saved->r14;
	registers->r15 = saved->r15;
	registers->rdi = saved->rdi;
	registers->rsi = saved->rsi;
	registers->rbp = saved->rbp;
	registers->rbx = saved->rbx;
	registers->rdx = saved->rdx;
	registers->rax = saved->rax;
	registers->rcx = saved->rcx;
	registers->rsp = saved->rsp;
	registers->rip = saved->rip;
	/* The interrupted instruction itself, not one behind a call. */
	stand_at_registers(walk);
	return 0;
}

/* 0: *value is what the frame has in the register of this DWARF number. */
static __always_inline int register_of_frame(struct walk_state *walk, __u32 number, __u64 *value)
{
	const __u64 *words = (const __u64 *)&walk->registers;
	__u32 word;

	if (number >= GENERAL_REGISTERS)
		return end_walk(walk, WALK_END_UNSUPPORTED_RULE);
	if (number == DWARF_RBP || number == DWARF_RSP) {
		*value = number == DWARF_RBP ? walk->rbp : walk->rsp;
		return 0;
	}
	if (walk->rip_is_return_address && !(number == DWARF_RBX && walk->rbx_known))
		return end_walk(walk, WALK_END_REGISTER_UNKNOWN);
	barrier_var(number);
	word = word_in_pt_regs[number & (GENERAL_REGISTERS - 1)];
	barrier_var(word);
	if (word >= PT_REGS_WORDS)
		return end_walk(walk, WALK_END_UNSUPPORTED_RULE);
	*value = words[word];
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
		if (register_of_frame(walk, rule->cfa_register, cfa))
			return 1;
		*cfa += rule->cfa_offset;
		return 0;
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

static __always_inline int special_return_address(struct walk_state *walk,
						  const struct special_rule *rule, __u64 cfa,
						  __u64 *return_address)
{
	if (rule->return_address == SPECIAL_RA_REGISTER)
		return register_of_frame(walk, rule->ra_register, return_address);
	if (bpf_probe_read_user(return_address, 8, (void *)(cfa + rule->ra_offset)))
		return end_walk(walk, WALK_END_STACK_UNREADABLE);
	return 0;
}

/* After the step: is rbx of the caller known, and if it was saved, what is it? */
static __always_inline void follow_rbx(struct walk_state *walk, const struct special_rule *rule,
				       __u64 cfa, __u32 was_known)
{
	__u64 at = cfa - 8 * (__u64)rule->rbx;

	if (rule->rbx == SPECIAL_RBX_SAME)
		walk->rbx_known = was_known;
	else if (rule->rbx != SPECIAL_RBX_UNKNOWN)
		walk->rbx_known = !bpf_probe_read_user(&walk->registers.rbx,
						       sizeof(walk->registers.rbx), (void *)at);
}

/* A caller's frame lies above its callee's, by a return address at least; where that is kept in a register
 * (vfork pops it into rdi) there may be nothing in between. */
static __always_inline int cfa_is_possible(const struct walk_state *walk,
					   const struct special_rule *rule, __u64 cfa)
{
	__u64 lowest = walk->rsp + (rule->return_address == SPECIAL_RA_REGISTER ? 0 : 8);

	return !(cfa & 7) && (rule->changes_stack || cfa >= lowest);
}

/* Everything rare: 0.26 % of rows. verifier: global, so that it is looked at once and not at every step
 * of a chain. */
__noinline int apply_special_rule(__u32 index)
{
	struct walk_state *walk = this_cpu_walk();
	__u64 cfa = 0, rbp = 0, return_address = 0;
	struct special_rule *rule;
	__u32 rbx_known;

	if (!walk)
		return 1;
	rbx_known = walk->rbx_known;
	if (index == 0)
		return follow_frame_pointer(walk);
	rule = bpf_map_lookup_elem(&special_rules, &index);
	if (!rule || rule->return_address == SPECIAL_RA_UNSUPPORTED)
		return end_walk(walk, WALK_END_UNSUPPORTED_RULE);
	if (rule->return_address == SPECIAL_RA_UNDEFINED)
		return end_walk(walk, WALK_END_BOTTOM);
	if (rule->return_address == SPECIAL_RA_OTHER_STACK)
		return end_walk(walk, WALK_END_OTHER_STACK);
	if (rule->cfa == SPECIAL_CFA_SIGNAL_FRAME)
		return cross_signal_frame(walk);
	if (special_cfa(walk, rule, &cfa) || special_rbp(walk, rule, cfa, &rbp))
		return 1;
	if (!cfa_is_possible(walk, rule, cfa))
		return end_walk(walk, WALK_END_IMPOSSIBLE_FRAME);
	if (special_return_address(walk, rule, cfa, &return_address))
		return 1;
	step_to(walk, return_address, cfa, rbp);
	walk->rip_is_return_address = !rule->enters_landing_pad;
	follow_rbx(walk, rule, cfa, rbx_known);
	return 0;
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
		return apply_special_rule((code & CODE_CFA_WORDS_MASK) |
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
	walk->rbx_known = 0;
	walk->by_frame_pointer = 0;
	return 0;
}

#endif
