/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_CHOOSE_TARGETS_BPF_H
#define BOBBIN_CHOOSE_TARGETS_BPF_H

/* Which processes are asked for: decided before any work is done for a tick. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"
#include "core_types.h"

/* Set by user space before loading. */
const volatile __u32 only_targets = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TARGET_PROCESSES);
	__type(key, __u32); /* pid */
	__type(value, __u8);
} target_processes SEC(".maps");

static __always_inline int is_target(__u32 pid)
{
	return !only_targets || bpf_map_lookup_elem(&target_processes, &pid);
}

/* Children of targets are targets. */
static __always_inline void inherit_target(struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_pid = BPF_CORE_READ(parent, tgid), pid = BPF_CORE_READ(child, tgid);
	__u8 present = 1;

	if (pid != parent_pid && is_target(parent_pid))
		bpf_map_update_elem(&target_processes, &pid, &present, BPF_ANY);
}

/* The number may be given to somebody else as soon as the last thread is gone. */
static __always_inline void forget_target(struct task_struct *task)
{
	__u32 pid = BPF_CORE_READ(task, tgid);

	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&target_processes, &pid);
}

#endif
