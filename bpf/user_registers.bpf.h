/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_USER_REGISTERS_BPF_H
#define BOBBIN_USER_REGISTERS_BPF_H

/* The registers of the current thread at the line between user and kernel, also when the tick hit
 * while the kernel was working for it. x86-64. */

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "core_types.h"

struct user_registers {
	__u64 rip;
	__u64 rsp;
	__u64 rbp;
	__u64 cs;
};

static __always_inline int tick_hit_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.cs & 3) != 0;
}

static __always_inline void registers_of_tick(const struct bpf_perf_event_data *ctx,
					      struct user_registers *registers)
{
	__u64 rip = ctx->regs.rip, rsp = ctx->regs.rsp, rbp = ctx->regs.rbp, cs = ctx->regs.cs;

	/* verifier: without these clang merges the loads with those of registers_at_entry() into one of a
	 * computed pointer, "dereference of modified ctx ptr" */
	barrier_var(rip);
	barrier_var(rsp);
	barrier_var(rbp);
	barrier_var(cs);
	registers->rip = rip;
	registers->rsp = rsp;
	registers->rbp = rbp;
	registers->cs = cs;
}

/* What the thread had when it entered the kernel. The helper is there since 5.15. */
static __always_inline void registers_at_entry(struct task_struct *task,
					       struct user_registers *registers)
{
	struct pt_regs___kernel *saved = (struct pt_regs___kernel *)bpf_task_pt_regs(task);

	registers->rip = saved->ip;
	registers->rsp = saved->sp;
	registers->rbp = saved->bp;
	registers->cs = saved->cs;
}

/* The same for 5.10 to 5.16: pt_regs are the last thing on the kernel stack. */
static __always_inline int registers_at_entry_by_hand(struct task_struct *task,
						      struct user_registers *registers)
{
	__u64 end = (__u64)BPF_CORE_READ(task, stack) + THREAD_BYTES;
	struct pt_regs___kernel *saved =
		(void *)(end - bpf_core_type_size(struct pt_regs___kernel));

	registers->rip = BPF_CORE_READ(saved, ip);
	registers->rsp = BPF_CORE_READ(saved, sp);
	registers->rbp = BPF_CORE_READ(saved, bp);
	registers->cs = BPF_CORE_READ(saved, cs);
	return 0;
}

#endif
