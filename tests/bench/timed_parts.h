/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_TIMED_PARTS_H
#define BOBBIN_TIMED_PARTS_H

/* What timed_walk.bpf.c adds up and walk_parts.cpp reads. */

#include <linux/types.h>

enum timed_part_number {
    PART_CLOCK, /* nothing: what a pair of looks at the clock costs, inside every other part */
    PART_BEGIN, /* who and where; the kernel's stack is inside */
    PART_KERNEL_STACK,
    PART_MAPPINGS,
    PART_TABLES,
    PART_STACK_READS,
    PART_OUTPUT,
    PART_COUNT
};

struct timed_part {
    __u64 total_ns;
    __u64 count;
};

#endif
