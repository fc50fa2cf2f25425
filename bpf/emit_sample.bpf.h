/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_EMIT_SAMPLE_BPF_H
#define BOBBIN_EMIT_SAMPLE_BPF_H

/* One record a tick: header, kernel frames, user frames, and what is needed to walk on later. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "outcome_counters.bpf.h"
#include "pause_walk.bpf.h"
#include "walk_state.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20); /* user space sets it by the number of CPUs */
} samples SEC(".maps");

/* The reader wakes by a timer: a wake-up a sample costs 0.1-0.2 us here and a context switch there. It
 * is woken early when a quarter is full. */
static __always_inline __u64 wakeup_flag(void)
{
	__u64 waiting = bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA);
	__u64 size = bpf_ringbuf_query(&samples, BPF_RB_RING_SIZE);

	return waiting > size / 4 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* When all is new, at the start, copies could fill the ring: they leave a quarter of it to samples. */
static __always_inline int has_room_for_stacks(void)
{
	__u64 waiting = bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA);
	__u64 size = bpf_ringbuf_query(&samples, BPF_RB_RING_SIZE);

	return waiting <= size / 4 * 3;
}

/* The sample with all that is needed to walk on from its last frame. 1: it was not possible. */
__noinline int emit_paused_sample(__u32 frames_bytes, __u32 source)
{
	struct paused_record *record = this_cpu_paused_record();
	struct outcome_counters *counters = this_cpu_counters();
	struct walk_state *walk = this_cpu_walk();
	__u32 size;

	if (!counters || !walk)
		return 1;
	if (!record || !has_room_for_stacks()) {
		counters->stack_copies_left_out++;
		return 1;
	}
	size = pause_walk(frames_bytes, source);
	if (!size)
		return 1;
	barrier_var(size);
	if (size > MAX_PAUSED_RECORD_BYTES)
		return 1;
	if (bpf_ringbuf_output(&samples, record->bytes, size, wakeup_flag())) {
		walk->record.header.flags &= ~SAMPLE_HAS_PAUSED_WALK;
		counters->stack_copies_left_out++;
		return 1;
	}
	counters->stack_copies++;
	return 0;
}

static __always_inline enum tick_outcome emit_sample(struct walk_state *walk,
						     enum mapping_source source)
{
	struct outcome_counters *counters = this_cpu_counters();
	struct sample_header *header = &walk->record.header;
	__u32 count = walk->frame_count;
	int emitted = 0;
	__u64 size;

	if (count > MAX_KERNEL_FRAMES + MAX_USER_FRAMES)
		count = MAX_KERNEL_FRAMES + MAX_USER_FRAMES;
	barrier_var(count);
	if (count > MAX_KERNEL_FRAMES + MAX_USER_FRAMES)
		return TICK_NO_STATE;
	header->user_frame_count = count - header->kernel_frame_count;
	header->walk_end = walk->walk_end;
	size = sizeof(*header) + (__u64)count * sizeof(frame_word);
	if (walk->walk_end == WALK_END_FILE_NOT_READY)
		emitted = !emit_paused_sample(size, source);
	barrier_var(emitted);
	if (!emitted && bpf_ringbuf_output(&samples, &walk->record, size, wakeup_flag()))
		return TICK_RING_FULL;
	if (counters && walk->walk_end < WALK_END_COUNT)
		counters->by_walk_end[walk->walk_end]++;
	return TICK_EMITTED;
}

#endif
