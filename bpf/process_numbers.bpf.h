/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_PROCESS_NUMBERS_BPF_H
#define BOBBIN_PROCESS_NUMBERS_BPF_H

/* A thread has a number in its own pid namespace and in each one above, up to the root's. The kernel
 * side tells targets apart by the root's. All that it hands out carries the number that the agent's
 * /proc shows, since files, cgroups and names are found by that: 0 where /proc shows none. */

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "core_types.h"

/* Set by user space before loading: the agent lives below the root namespace. */
const volatile __u32 numbers_are_translated = 0;

/* The namespace that /proc shows. Set once by find_shown_namespace(), before anything is announced. */
__u64 shown_pid_namespace;
__u32 shown_pid_level;

static __always_inline struct upid *number_at_level(struct pid *pid, __u32 level)
{
	return (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	       level * bpf_core_type_size(struct upid);
}

static __always_inline __u32 translated_number(struct task_struct *thread)
{
	struct pid *pid = BPF_CORE_READ(thread, thread_pid);
	struct upid *number = number_at_level(pid, shown_pid_level);

	/* Another container's namespace may have the same level. */
	if (!pid || BPF_CORE_READ(pid, level) < shown_pid_level ||
	    (__u64)BPF_CORE_READ(number, ns) != shown_pid_namespace)
		return 0;
	return BPF_CORE_READ(number, nr);
}

/* The number of a thread as /proc shows it; `root_number` is the kernel's own. A process has that of
 * its first thread. */
static __always_inline __u32 shown_number(struct task_struct *thread, __u32 root_number)
{
	return numbers_are_translated ? translated_number(thread) : root_number;
}

/* Called by the agent, whose own namespace lies `levels_below` that of its /proc. */
static __always_inline void note_shown_namespace(__u64 levels_below)
{
	struct task_struct *agent = (void *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(agent, thread_pid);
	__u32 own_level = BPF_CORE_READ(pid, level);
	struct upid *number;

	shown_pid_level = levels_below < own_level ? own_level - levels_below : 0;
	number = number_at_level(pid, shown_pid_level);
	shown_pid_namespace = (__u64)BPF_CORE_READ(number, ns);
}

#endif
