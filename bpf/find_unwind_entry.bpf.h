/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_FIND_UNWIND_ENTRY_BPF_H
#define BOBBIN_FIND_UNWIND_ENTRY_BPF_H

/* (executable, file offset) -> 16-bit code, never a macro. Layout: bobbin/bpf_abi.h, "the unwind table". */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"

struct unwind_bucket {
	__u32 words[BUCKET_WORDS];
};

struct unwind_bucket_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags,
	       BPF_F_MMAPABLE); /* user space writes words without a copy of the bucket */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct unwind_bucket));
};

/* All buckets are alike and none is BPF_F_INNER_MAP, so that both lookups are inlined by the verifier:
 * a map for each executable costs 9 ns a frame more and blocks 8 ms for RCU at each publication. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MAX_BUCKETS);
	__type(key, __u32);
	__array(values, struct unwind_bucket_map);
} unwind_buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_EXECUTABLES); /* by executable_id % MAX_EXECUTABLES */
	__uint(map_flags, BPF_F_MMAPABLE); /* the agent's own walker reads it, and macros too */
	__type(key, __u32);
	__type(value, struct executable);
} executables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_MACROS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct macro);
} macros SEC(".maps");

static __always_inline struct unwind_bucket *find_bucket(__u32 word)
{
	__u32 index = word >> BUCKET_WORDS_SHIFT, zero = 0;
	void *bucket = bpf_map_lookup_elem(&unwind_buckets, &index);

	return bucket ? bpf_map_lookup_elem(bucket, &zero) : NULL;
}

static __always_inline const __u32 *line_at(const struct unwind_bucket *bucket, __u32 word)
{
	/* verifier: clang proves the range and drops the mask; 5.10 and 6.1 cannot follow that */
	barrier_var(word);
	return &bucket->words[word & (BUCKET_WORDS - LINE_WORDS)];
}

/* The last word whose offset is not above the one that `end` is right behind. Word 0 is taken as such
 * whatever it is. A word below `end` makes the difference negative, so that its upper 32 bits are set and
 * one of them is the step, in bytes: no branch, because BPF has no conditional move, a branchy search is
 * mispredicted at every step (40-70 ns), and its states are a million for the verifier. */
static __always_inline __u32 search_line(const __u32 *line, __u64 end)
{
	const __u8 *bytes = (const __u8 *)line;
	__u64 at = 0;

#pragma unroll
	for (int half = LINE_WORDS * 2; half >= 4; half /= 2) {
		__u64 step = (*(const __u32 *)(bytes + at + half) - end) >> 58 & half;

		/* verifier: clang knows the bits to be disjoint and makes an OR of the sum, of which
		 * 5.10 and 6.1 then know nothing */
		barrier_var(step);
		at += step;
	}
	return *(const __u32 *)(bytes + at);
}

/* Eight byte-wise subtractions at once: a byte keeps its top bit where its start is not above the
 * distance; the product adds the eight bits up in the top byte. */
static __always_inline __u32 starts_not_above(__u64 starts, __u64 distance)
{
	const __u64 ones = 0x0101010101010101ULL;
	__u64 difference = (0x80 | distance) * ones - starts;

	return ((difference >> 7 & ones) * ones) >> 56;
}

static __always_inline __u32 code_in_macro(__u32 index, __u32 distance)
{
	const struct macro *macro = bpf_map_lookup_elem(&macros, &index);
	__u32 picked;

	if (!macro)
		return CODE_NO_CFI;
	if (distance > MACRO_MAX_DISTANCE)
		distance = MACRO_MAX_DISTANCE;
	picked = starts_not_above(macro->starts, distance);
	barrier_var(picked);
	return picked < MACRO_CODES ? macro->codes[picked] : CODE_NO_CFI;
}

static __always_inline __u32 code_of_entry(__u32 entry, __u64 file_offset)
{
	__u32 code = entry & 0xffff;

	if (!(code & CODE_MACRO))
		return code;
	return code_in_macro(code & (MAX_MACROS - 1),
			     ((__u32)file_offset - (entry >> ENTRY_OFFSET_SHIFT)) &
				     ENTRY_OFFSET_MASK);
}

static __always_inline __u32 find_unwind_code(const struct executable *executable,
					      __u64 file_offset)
{
	__u64 from_base = file_offset - executable->base_file_offset;
	__u64 granule = from_base >> (executable->granule_shift & 31);
	__u64 end = ((file_offset & ENTRY_OFFSET_MASK) + 1) << ENTRY_OFFSET_SHIFT;
	__u32 word, entry;
	struct unwind_bucket *bucket;

	if (granule >= executable->granule_count)
		return CODE_NO_CFI;
	word = executable->first_word + (__u32)granule * LINE_WORDS;
	bucket = find_bucket(word);
	if (!bucket)
		return CODE_NO_CFI;
	entry = search_line(line_at(bucket, word), end);
	if (entry & ENTRY_IS_LINK) {
		word = executable->first_word +
		       (executable->granule_count + (entry & 0xffff)) * LINE_WORDS;
		bucket = find_bucket(word);
		if (!bucket)
			return CODE_NO_CFI;
		entry = search_line(line_at(bucket, word), end);
	}
	return code_of_entry(entry, file_offset);
}

#endif
