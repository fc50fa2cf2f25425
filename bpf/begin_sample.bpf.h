/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_BEGIN_SAMPLE_BPF_H
#define BOBBIN_BEGIN_SAMPLE_BPF_H

/* Who was running, what the kernel was doing, and where the user stack begins. */

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "choose_targets.bpf.h"
#include "core_types.h"
#include "process_numbers.bpf.h"
#include "user_registers.bpf.h"
#include "walk_state.bpf.h"

/* Set by user space before loading. */
const volatile __u32 leave_out_kernel_frames = 0;
const volatile __u32 leave_out_user_frames = 0;

static __always_inline void copy_comm(char *to, const char *from)
{
	((__u64 *)to)[0] = ((const __u64 *)from)[0];
	((__u64 *)to)[1] = ((const __u64 *)from)[1];
}

static __always_inline void describe_thread(struct walk_state *walk, struct task_struct *task,
					    enum task_access access)
{
	struct sample_header *header = &walk->record.header;
	struct task_struct *leader = TASK_READ(access, task, group_leader);

	header->process_start_boot_ns = TASK_READ(access, leader, start_boottime);
	header->cgroup_id = bpf_get_current_cgroup_id();
	header->cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(header->thread_comm, sizeof(header->thread_comm));
	if (header->pid == header->tid)
		copy_comm(header->process_comm, header->thread_comm);
	else
		bpf_probe_read_kernel(header->process_comm, sizeof(header->process_comm),
				      &leader->comm);
	header->pid = shown_number(leader, header->pid);
	header->tid = shown_number(task, header->tid);
	walk->pid = header->pid;
	walk->is_out_of_sight = !header->pid;
}

static __always_inline void note_kernel_stack(struct walk_state *walk,
					      struct bpf_perf_event_data *ctx)
{
	struct sample_header *header = &walk->record.header;
	long bytes;

	if (leave_out_kernel_frames)
		return;
	bytes = bpf_get_stack(ctx, walk->record.frames, MAX_KERNEL_FRAMES * 8, 0);
	if (bytes > 0)
		header->kernel_frame_count = (__u64)bytes >> 3;
}

/* Where the user stack begins; WALK_END_COUNT if it can be walked, else why not. */
static __always_inline enum walk_end find_user_stack(struct bpf_perf_event_data *ctx,
						     struct walk_state *walk,
						     struct task_struct *task,
						     enum task_access access)
{
	struct mm_struct *mm;

	if (leave_out_user_frames)
		return WALK_END_NOT_ASKED;
	mm = TASK_READ(access, task, mm);
	if (!mm || has_no_user_mode(task, access))
		return WALK_END_NO_USER_STACK;
	/* The registers are of the old program, the mappings already of the new one. */
	if (bpf_core_field_exists(task->in_execve) &&
	    BPF_CORE_READ_BITFIELD_PROBED(task, in_execve))
		return WALK_END_IN_EXECVE;
	if (tick_hit_user_mode(ctx))
		walk->registers = ctx->regs;
	else if (registers_at_entry(task, &walk->registers))
		return WALK_END_NO_USER_STACK;
	/* Above the 16 bits FRED keeps flags of its own. */
	if ((__u16)walk->registers.cs == USER_CS_32_BIT)
		return WALK_END_32_BIT;
	walk->mm = (__u64)mm;
	walk->vdso = (__u64)TASK_READ(access, mm, context.vdso);
	start_walk(walk);
	return WALK_END_COUNT;
}

/* TICK_EMITTED: go on, and walk->ended says whether there is a user stack to walk. */
static __always_inline enum tick_outcome begin_sample(struct bpf_perf_event_data *ctx,
						      struct walk_state *walk,
						      struct task_struct *task,
						      enum task_access access)
{
	struct sample_header *header = &walk->record.header;
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	enum walk_end end;

	header->pid = pid_tgid >> 32;
	header->tid = (__u32)pid_tgid;
	if (!header->pid)
		return TICK_IDLE;
	if (!is_current_target(task, header->pid, header->tid))
		return TICK_NOT_A_TARGET;
	header->kernel_frame_count = 0;
	header->flags = 0;
	if (!tick_hit_user_mode(ctx)) {
		header->flags = SAMPLE_IN_KERNEL_MODE;
		note_kernel_stack(walk, ctx);
	}
	walk->frame_count = header->kernel_frame_count;
	walk->frame_limit = walk->frame_count + MAX_USER_FRAMES;
	end = find_user_stack(ctx, walk, task, access);
	if (end != WALK_END_COUNT) {
		end_walk(walk, end);
		if ((end == WALK_END_NOT_ASKED || leave_out_kernel_frames) && !walk->frame_count)
			return TICK_OUT_OF_SCOPE;
	}
	header->time_ns = walk->started_ns;
	describe_thread(walk, task, access);
	return TICK_EMITTED;
}

#endif
