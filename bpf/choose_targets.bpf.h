/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_CHOOSE_TARGETS_BPF_H
#define BOBBIN_CHOOSE_TARGETS_BPF_H

/* Who is asked for: decided before any work is done for a tick, an exec or a mapping. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"
#include "core_types.h"
#include "process_numbers.bpf.h"

/* Set by user space before loading, so that the verifier drops what is not asked for. */
const volatile __u32 only_targets = 0; /* enum target_kind; 0: everybody */
const volatile __u32 target_comm_count = 0;
/* A name, or the beginning of one, and which bits of a thread's name have to be the same. */
const volatile __u64 target_comm_bits[MAX_TARGET_COMMS][COMM_WORDS] = {};
const volatile __u64 target_comm_masks[MAX_TARGET_COMMS][COMM_WORDS] = {};

enum {
	MAX_CGROUP_LEVELS = 64, /* systemd's deepest have about 10 */
	MAX_CGROUP_VERDICTS = 4096,
};

/* User space lowers max_entries where a kind of target is not asked for: these are preallocated,
 * because on 5.10 a perf_event program may use no other hash. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TARGET_PROCESSES);
	__type(key, __u32); /* pid */
	__type(value, __u8);
} target_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TARGET_PROCESSES);
	__type(key, __u32); /* tid */
	__type(value, __u8);
} target_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TARGET_CGROUPS);
	__type(key, __u64); /* cgroup id */
	__type(value, __u8);
} target_cgroups SEC(".maps");

/* Whether a cgroup lies in one of `target_cgroups`: in version 2 cgroups are never moved. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_CGROUP_VERDICTS);
	__type(key, __u64); /* cgroup id */
	__type(value, __u8);
} cgroup_verdicts SEC(".maps");

/* Found by choose_running(), asked by is_target_process() only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TARGET_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid */
	__type(value, __u8);
} processes_with_targets SEC(".maps");

static __always_inline __u64 cgroup_id_of(struct task_struct *task)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	return BPF_CORE_READ(cgroup, kn, id);
}

static __always_inline int is_below_target_cgroup(struct cgroup *cgroup)
{
	for (int level = 0; level < MAX_CGROUP_LEVELS && cgroup; level++) {
		__u64 id = BPF_CORE_READ(cgroup, kn, id);
		struct cgroup_subsys_state *parent;

		if (bpf_map_lookup_elem(&target_cgroups, &id))
			return 1;
		parent = BPF_CORE_READ(cgroup, self.parent);
		cgroup = parent ? BPF_CORE_READ(parent, cgroup) : NULL;
	}
	return 0;
}

static __always_inline int is_in_target_cgroup(struct task_struct *task, __u64 cgroup_id)
{
	__u8 *known = bpf_map_lookup_elem(&cgroup_verdicts, &cgroup_id);
	__u8 verdict;

	if (known)
		return *known;
	verdict = is_below_target_cgroup(BPF_CORE_READ(task, cgroups, dfl_cgrp));
	bpf_map_update_elem(&cgroup_verdicts, &cgroup_id, &verdict, BPF_ANY);
	return verdict;
}

static __always_inline int has_target_comm(struct task_struct *task)
{
	/* To 6.1 the kernel leaves the end of a longer former name behind the NUL. */
	__u64 comm[COMM_WORDS] = {};

	bpf_probe_read_kernel_str(comm, sizeof(comm), &task->comm);
	for (__u32 i = 0; i < MAX_TARGET_COMMS && i < target_comm_count; i++)
		if ((comm[0] & target_comm_masks[i][0]) == target_comm_bits[i][0] &&
		    (comm[1] & target_comm_masks[i][1]) == target_comm_bits[i][1])
			return 1;
	return 0;
}

/* `pid` and `tid` are of the root namespace; `cgroup_id` is looked at with TARGET_CGROUPS only. */
static __always_inline int is_target_thread(struct task_struct *task, __u32 pid, __u32 tid,
					    __u64 cgroup_id)
{
	if (!only_targets)
		return 1;
	if ((only_targets & TARGET_PROCESSES) && bpf_map_lookup_elem(&target_processes, &pid))
		return 1;
	if ((only_targets & TARGET_THREADS) && bpf_map_lookup_elem(&target_threads, &tid))
		return 1;
	if ((only_targets & TARGET_CGROUPS) && is_in_target_cgroup(task, cgroup_id))
		return 1;
	return (only_targets & TARGET_COMMS) && has_target_comm(task);
}

/* The running thread, in a tick. */
static __always_inline int is_current_target(struct task_struct *task, __u32 pid, __u32 tid)
{
	__u64 cgroup_id = only_targets & TARGET_CGROUPS ? bpf_get_current_cgroup_id() : 0;

	return is_target_thread(task, pid, tid, cgroup_id);
}

/* Any thread. */
static __always_inline int is_target(struct task_struct *task)
{
	__u64 cgroup_id = only_targets & TARGET_CGROUPS ? cgroup_id_of(task) : 0;

	return is_target_thread(task, BPF_CORE_READ(task, tgid), BPF_CORE_READ(task, pid),
				cgroup_id);
}

/* Whether some thread of the process is a target. Its first thread may be none. */
static __always_inline int is_target_process(struct task_struct *leader)
{
	__u32 pid = BPF_CORE_READ(leader, tgid);

	return is_target(leader) || bpf_map_lookup_elem(&processes_with_targets, &pid);
}

/* ---- children of target processes --------------------------------------------------------------- */

static __always_inline int adopt(__u32 parent_pid, __u32 pid)
{
	__u8 present = 1;

	if (pid == parent_pid || !bpf_map_lookup_elem(&target_processes, &parent_pid))
		return 0;
	return !bpf_map_update_elem(&target_processes, &pid, &present, BPF_NOEXIST);
}

static __always_inline int has_exited(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, live.counter) == 0;
}

static __always_inline void inherit_target(struct task_struct *parent, struct task_struct *child)
{
	if (only_targets & TARGET_PROCESSES)
		adopt(BPF_CORE_READ(parent, tgid), BPF_CORE_READ(child, tgid));
}

/* A number may be given to somebody else as soon as its thread, or the last of them, is gone. */
static __always_inline void forget_target(struct task_struct *task)
{
	__u32 pid = BPF_CORE_READ(task, tgid), tid = BPF_CORE_READ(task, pid);

	if (only_targets & TARGET_THREADS)
		bpf_map_delete_elem(&target_threads, &tid);
	if ((only_targets & TARGET_PROCESSES) && has_exited(task))
		bpf_map_delete_elem(&target_processes, &pid);
}

/* A thread that executes a program becomes its first one: it gets the number of the process, and its
 * former number is nobody's. */
static __always_inline void follow_exec(struct task_struct *task, __u32 former_tid)
{
	__u32 tid = BPF_CORE_READ(task, pid);
	__u8 present = 1;

	if (!(only_targets & TARGET_THREADS) || tid == former_tid)
		return;
	if (!bpf_map_delete_elem(&target_threads, &former_tid))
		bpf_map_update_elem(&target_threads, &tid, &present, BPF_ANY);
}

/* ---- what runs already --------------------------------------------------------------------------- */

__u32 adopted_count; /* since user space set it to 0; a round without any is the last one */

/* The number in the root namespace of `wanted_pid`, as /proc shows it. */
__u32 wanted_pid;
__u32 found_pid; /* 0: no such thread */

/* Called for every thread that the agent's namespace holds, before sampling starts. */
static __always_inline void choose_running(struct task_struct *task)
{
	__u32 pid = BPF_CORE_READ(task, tgid), tid = BPF_CORE_READ(task, pid);
	__u8 present = 1;

	if (wanted_pid && shown_number(task, tid) == wanted_pid)
		found_pid = tid;
	if ((only_targets & TARGET_PROCESSES) &&
	    adopt(BPF_CORE_READ(task, real_parent, tgid), pid)) {
		adopted_count++;
		/* forget_target() may have come before. */
		if (has_exited(task))
			bpf_map_delete_elem(&target_processes, &pid);
	}
	if (only_targets && pid != tid && is_target(task))
		bpf_map_update_elem(&processes_with_targets, &pid, &present, BPF_ANY);
}

#endif
