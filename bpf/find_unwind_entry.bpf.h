/* SPDX-License-Identifier: GPL-2.0-only */
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
	__uint(max_entries, MAX_EXECUTABLES);
	__type(key, __u32);
	__type(value, struct executable);
} executables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_MACROS);
	__type(key, __u32);
	__type(value, struct macro);
} macros SEC(".maps");

static __always_inline struct unwind_bucket *find_bucket(__u32 word)
{
	__u32 index = word >> BUCKET_WORDS_SHIFT, zero = 0;
	void *bucket = bpf_map_lookup_elem(&unwind_buckets, &index);

	return bucket ? bpf_map_lookup_elem(bucket, &zero) : NULL;
}

static __always_inline __u32 word_of(const struct unwind_bucket *bucket, __u32 word)
{
	/* verifier: clang proves the range and drops the mask; 5.10 and 6.1 cannot follow that */
	barrier_var(word);
	return bucket->words[word & (BUCKET_WORDS - 1)];
}

/* v <= key ? step : 0 without a branch: BPF has no conditional move, a branchy search is mispredicted at
 * every step (40-70 ns), and its states are a million for the verifier. */
static __always_inline __u32 step_if_not_above(__u32 v, __u32 key, __u32 step)
{
	__s64 difference = (__s64)(__u64)key - (__s64)(__u64)v;

	barrier_var(difference);
	return (__u32) ~(difference >> 63) & step;
}

/* The last word that is not above `key`. The word at `predecessor`, right before the group's own, is
 * taken as not above whatever it is. */
static __always_inline __u32 search_group(const struct unwind_bucket *bucket, __u32 predecessor,
					  __u32 count, __u32 key)
{
	__u32 at = predecessor, left = count + 1;

#pragma unroll
	for (int i = 0; i < MAX_SEARCH_STEPS; i++) {
		if (left <= 1)
			break;
		__u32 half = left >> 1;

		at += step_if_not_above(word_of(bucket, at + half), key, half);
		left -= half;
	}
	return word_of(bucket, at);
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
			     ((__u32)file_offset - (entry >> 16)) & 0xffff);
}

static __always_inline __u32 find_unwind_code(const struct executable *executable,
					      __u64 file_offset)
{
	__u64 from_base = file_offset - executable->base_file_offset;
	__u64 granule = from_base >> (executable->granule_shift & 31);
	__u32 directory_index, directory, predecessor, entry;
	struct unwind_bucket *bucket;

	if (granule >= executable->granule_count)
		return CODE_NO_CFI;
	directory_index = executable->first_word + (__u32)granule;
	bucket = find_bucket(directory_index);
	if (!bucket)
		return CODE_NO_CFI;
	directory = word_of(bucket, directory_index);
	predecessor = executable->first_word + (directory >> 8) - 1;
	if ((predecessor ^ directory_index) >> BUCKET_WORDS_SHIFT) {
		bucket = find_bucket(predecessor);
		if (!bucket)
			return CODE_NO_CFI;
	}
	entry = search_group(bucket, predecessor, directory & 0xff,
			     ((__u32)file_offset & 0xffff) << 16 | 0xffff);
	return code_of_entry(entry, file_offset);
}

#endif
