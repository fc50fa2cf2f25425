// SPDX-License-Identifier: GPL-2.0-only
/* The programs. Every tick of a CPU's clock runs one of the three on_tick programs, which ends in one
 * record of `samples` or in one counted reason why not. User space loads the one the kernel can run:
 *
 *   on_tick             5.17 on: bpf_loop repeats the step
 *   on_tick_tail_calls  before: a chain of tail calls does
 *   on_tick_find_vma    where the tree of mappings cannot be read: only frames of the leaf's mapping
 */
#include "begin_sample.bpf.h"
#include "emit_sample.bpf.h"
#include "walk_user_stack.bpf.h"

#include <bpf/bpf_tracing.h>

enum {
	STEPS_PER_TAIL_CALL = 32, /* 33 chained calls are allowed: 33 * 32 > MAX_USER_FRAMES */
};

/* ---- a tick ------------------------------------------------------------------------------------ */

struct loop_context {
	struct walk_state *walk;
	struct rule_memory memory;
};

static long step_in_loop(__u32 turn, struct loop_context *context)
{
	long ended = step_to_caller(context->walk, &context->memory);

	barrier_var(ended);
	return ended ? 1 : 0;
}

static __always_inline struct walk_state *start_tick(void)
{
	struct walk_state *walk = this_cpu_walk();

	if (walk)
		walk->started_ns = bpf_ktime_get_ns();
	return walk;
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
	struct walk_state *walk = start_tick();
	struct loop_context context = {.walk = walk};
	enum tick_outcome outcome;

	if (!walk) {
		count_tick(TICK_NO_STATE, bpf_ktime_get_ns());
		return 0;
	}
	outcome = begin_sample(ctx, walk, bpf_get_current_task_btf(), TASK_DIRECT);
	if (outcome == TICK_EMITTED) {
		if (!walk->ended) {
			open_rule_memory(walk, &context.memory);
			bpf_loop(MAX_USER_FRAMES + 1, step_in_loop, &context, 0);
			count_recalled(walk);
		}
		outcome = emit_sample(walk, MAPPINGS_OF_TREE);
	}
	count_tick(outcome, walk->started_ns);
	return 0;
}

/* ---- a tick before bpf_loop -------------------------------------------------------------------- */

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} walk_programs SEC(".maps"); /* 0: continue_walk, put there by user space */

SEC("perf_event")
int continue_walk(struct bpf_perf_event_data *ctx)
{
	struct walk_state *walk = this_cpu_walk();

	if (!walk)
		return 0;
	for (int i = 0; i < STEPS_PER_TAIL_CALL; i++) {
		int ended = step_to_caller(walk, NULL);

		barrier_var(ended);
		if (ended)
			goto emit;
	}
	bpf_tail_call(ctx, &walk_programs, 0);
emit:
	count_tick(emit_sample(walk, MAPPINGS_OF_TREE), walk->started_ns);
	return 0;
}

SEC("perf_event")
int on_tick_tail_calls(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct walk_state *walk = start_tick();
	enum tick_outcome outcome;

	if (!walk) {
		count_tick(TICK_NO_STATE, bpf_ktime_get_ns());
		return 0;
	}
	outcome = begin_sample(ctx, walk, task, TASK_BY_PROBE);
	if (outcome == TICK_EMITTED && !walk->ended) {
		bpf_tail_call(ctx, &walk_programs, 0);
		outcome = TICK_WALK_NOT_RUN;
	} else if (outcome == TICK_EMITTED) {
		outcome = emit_sample(walk, MAPPINGS_OF_TREE);
	}
	count_tick(outcome, walk->started_ns);
	return 0;
}

/* ---- a tick without the tree of mappings ------------------------------------------------------- */

static long meet_leaf_mapping(struct task_struct *task, struct vm_area_struct *vma,
			      struct loop_context *context)
{
	struct file *file = vma->vm_file;
	struct found_mapping found = {
		.vm_start_vaddr = vma->vm_start,
		.vm_end_vaddr = vma->vm_end,
		.file_offset = (__u64)vma->vm_pgoff << PAGE_SHIFT,
		.flags = vma->vm_flags,
		.inode = file ? (__u64)file->f_inode : 0,
	};
	struct walk_state *walk = context->walk;

	walk->known_count = 1;
	walk->current_mapping = 0;
	describe_mapping(walk, &walk->known[0], &found);
	return 0;
}

static long step_in_leaf_mapping(__u32 turn, struct loop_context *context)
{
	struct walk_state *walk = context->walk;
	long ended;

	if (walk->rip && !holds(&walk->known[0], walk->rip - walk->rip_is_return_address))
		return end_walk(walk, WALK_END_MAPPING_UNREADABLE);
	ended = step_to_caller(walk, NULL);
	barrier_var(ended);
	return ended ? 1 : 0;
}

/* bpf_find_vma answers once a tick: the second call finds the first one's lock not yet given back. */
SEC("perf_event")
int on_tick_find_vma(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct walk_state *walk = start_tick();
	struct loop_context context = {.walk = walk};
	enum tick_outcome outcome;

	if (!walk) {
		count_tick(TICK_NO_STATE, bpf_ktime_get_ns());
		return 0;
	}
	outcome = begin_sample(ctx, walk, task, TASK_DIRECT);
	if (outcome == TICK_EMITTED) {
		/* The tree is not to be trusted with the stack's mapping either. */
		walk->stack_start_vaddr = walk->rsp;
		walk->stack_bytes = MAX_FRAME_POINTER_STRIDE_BYTES;
		if (!walk->ended && bpf_find_vma(task, walk->rip, meet_leaf_mapping, &context, 0))
			end_walk(walk, WALK_END_MAPPING_UNREADABLE);
		if (!walk->ended)
			bpf_loop(MAX_USER_FRAMES + 1, step_in_leaf_mapping, &context, 0);
		outcome = emit_sample(walk, MAPPINGS_MET);
	}
	count_tick(outcome, walk->started_ns);
	return 0;
}

/* ---- processes come and go --------------------------------------------------------------------- */

/* The program's file is announced before its first instruction has run. It is read from the mapping
 * that holds mm->start_code: on overlayfs the exec's own struct file has another inode. */
SEC("raw_tp/sched_process_exec")
int on_process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 lane = LANE_EXEC, pid = shown_number(task, BPF_CORE_READ(task, tgid));
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	follow_exec(task, ctx->args[1]);
	if (!search || !mm || !is_target(task))
		return 0;
	if (find_mapping(LANE_EXEC, (__u64)mm, BPF_CORE_READ(mm, start_code)))
		return 0;
	if (search->found.inode)
		identify_file(&search->found, pid, ANNOUNCED_BY_EXEC);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int on_process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	if (only_targets)
		inherit_target((void *)ctx->args[0], (void *)ctx->args[1]);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_process_exit(struct bpf_raw_tracepoint_args *ctx)
{
	if (only_targets)
		forget_target((void *)ctx->args[0]);
	return 0;
}

/* ---- run by the agent itself -------------------------------------------------------------------- */

/* Called for every thread before sampling starts, and again until no more children are found. */
SEC("iter/task")
int choose_running_thread(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	/* verifier: clang reads ctx->task again for each use, and each would have to be checked */
	barrier_var(task);
	choose_running(task);
	return 0;
}

/* What runs already: called once for every mapping of every process before sampling starts. The
 * agent's own mappings are always announced: libc is among them. */
SEC("iter/task_vma")
int announce_mapped_file(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct found_mapping found = {};
	struct file *file;
	__u32 pid;

	if (!vma || !task)
		return 0;
	file = vma->vm_file;
	if (!file || !(vma->vm_flags & VM_EXEC))
		return 0;
	pid = task->tgid;
	if (pid != bpf_get_current_pid_tgid() >> 32 && !is_target_process(task))
		return 0;
	pid = shown_number(task->group_leader, pid);
	found.vm_start_vaddr = vma->vm_start;
	found.vm_end_vaddr = vma->vm_end;
	found.inode = (__u64)file->f_inode;
	identify_file(&found, pid, ANNOUNCED_AT_START);
	return 0;
}

/* Before all else that the agent runs; its /proc shows the namespace so many levels above its own. */
SEC("raw_tp")
int find_shown_namespace(struct bpf_raw_tracepoint_args *ctx)
{
	note_shown_namespace(ctx->args[0]);
	return 0;
}

/* Self-test: the agent asks for an address of its own and compares with /proc/self/maps. */
__u64 own_mapping_start_vaddr;
__u64 own_mapping_end_vaddr; /* 0: not found */
__u64 own_mapping_file_offset;

SEC("raw_tp")
int find_own_mapping(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 lane = LANE_AGENT;
	struct mapping_search *search = bpf_map_lookup_elem(&mapping_searches, &lane);

	own_mapping_end_vaddr = 0;
	if (!search || find_mapping(LANE_AGENT, (__u64)BPF_CORE_READ(task, mm), ctx->args[0]))
		return 0;
	own_mapping_start_vaddr = search->found.vm_start_vaddr;
	own_mapping_end_vaddr = search->found.vm_end_vaddr;
	own_mapping_file_offset = search->found.file_offset;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
