/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_OUTCOME_COUNTERS_BPF_H
#define BOBBIN_OUTCOME_COUNTERS_BPF_H

/* What became of every tick: ticks = sum of by_tick_outcome, always. */

#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct outcome_counters);
} outcome_counts SEC(".maps");

static __always_inline struct outcome_counters *this_cpu_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&outcome_counts, &zero);
}

/* The end of a tick, whatever came of it. */
static __always_inline void count_tick(enum tick_outcome outcome, __u64 started_ns)
{
	struct outcome_counters *counters = this_cpu_counters();

	if (!counters)
		return;
	counters->ticks++;
	counters->by_tick_outcome[outcome]++;
	counters->tick_time_ns += bpf_ktime_get_ns() - started_ns;
}

#endif
