/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_USER_REGISTERS_BPF_H
#define BOBBIN_USER_REGISTERS_BPF_H

/* The registers of the current thread at the line between user and kernel, also when the tick hit
 * while the kernel was working for it. x86-64. */

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "core_types.h"

/* Kernels since 5.11 let a program follow the current task's pointers directly; before, and in the
 * programs made for before, each field is read by a helper. */
enum task_access {
	TASK_DIRECT,
	TASK_BY_PROBE,
};

#define TASK_READ(access, task, field) \
	((access) == TASK_DIRECT ? (task)->field : BPF_CORE_READ(task, field))

enum {
	DWARF_RBX = 3,
	DWARF_RBP = 6, /* psABI x86-64 figure 3.36 */
	DWARF_RSP = 7,
	GENERAL_REGISTERS = 16,
	PT_REGS_WORDS = sizeof(struct pt_regs) / 8,
};

/* DWARF number of a general register -> its word in struct pt_regs. */
static const __u8 word_in_pt_regs[GENERAL_REGISTERS] = {
	10, /* rax */
	12, /* rdx */
	11, /* rcx */
	5, /* rbx */
	13, /* rsi */
	14, /* rdi */
	4, /* rbp */
	19, /* rsp */
	9,  8, 7, 6, 3, 2, 1, 0, /* r8 to r15 */
};

static __always_inline int tick_hit_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.cs & 3) != 0;
}

/* Kernels before 5.15 have no helper for it: pt_regs are the last thing on the kernel stack. */
static __always_inline __u64 end_of_kernel_stack(struct task_struct *task)
{
	__u64 bytes = bpf_core_type_size(struct irq_stack);

	return (__u64)BPF_CORE_READ(task, stack) + (bytes ? bytes : sizeof(struct irq_stack));
}

/* What the thread had when it entered the kernel. 0: these are registers of user mode. */
static __always_inline int registers_at_entry(struct task_struct *task, struct pt_regs *registers)
{
	const void *saved;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		saved = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	else
		saved = (void *)(end_of_kernel_stack(task) - sizeof(*registers));
	if (bpf_probe_read_kernel(registers, sizeof(*registers), saved))
		return 1;
	return (registers->cs & 3) == 0;
}

/* Kernel threads, and threads that the kernel made out of a process: they have its mm, but have never
 * been in user mode. io_uring's workers since 5.12, vhost's since 6.4. */
static __always_inline int has_no_user_mode(struct task_struct *task, enum task_access access)
{
	__u32 flags = TASK_READ(access, task, flags);

	if (bpf_core_field_exists(struct kernel_clone_args, user_worker) && flags & PF_USER_WORKER)
		return 1;
	return (flags & (PF_KTHREAD | PF_IO_WORKER)) != 0;
}

#endif
