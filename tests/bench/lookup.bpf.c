// SPDX-License-Identifier: GPL-2.0-only
/* One look-up in the unwind table, as the walk does it, against the search that other profilers do:
 * page hash, then a binary search over rows of 8 bytes, each fetched by a helper's call. */
// clang-format off: bpf_helpers.h needs the types of bpf.h
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "find_unwind_entry.bpf.h"

enum {
    LOOKUPS_A_RUN = 32,
    MAX_PLACES = 65536,
    MAX_ROW_STEPS = 17, /* a page of 64 KiB has at most 65,536 rows */
    MAX_PAGES = 500000, /* what such profilers reserve */
};

/* The walk has an executable's geometry in its state, read once a mapping; so has the bench. */
struct place {
    struct executable executable;
    __u64 file_offset;
    __u32 executable_id;
    __u32 unused;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MAX_PLACES);
    __type(key, __u32);
    __type(value, struct place);
} places SEC(".maps");

/* ---- rows
 * ---------------------------------------------------------------------------------------- */

struct row {
    __u16 low_offset; /* low 16 bits of the file offset */
    __u16 code;
    __u32 unused; /* such rows spell the rule out */
};

struct row_page_key {
    __u64 executable_id;
    __u64 page;
};

struct row_page {
    __u32 first_row;
    __u32 end_row;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_PAGES);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct row_page_key);
    __type(value, struct row_page);
} row_pages SEC(".maps");

struct row_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_INNER_MAP); /* each executable's has a size of its own */
    __uint(max_entries, 1);
    __uint(key_size, sizeof(__u32));
    __uint(value_size, sizeof(struct row));
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
    __uint(max_entries, 64);
    __type(key, __u64);
    __array(values, struct row_map);
} rows_of_executables SEC(".maps");

static __always_inline __u32 find_row_code(const struct place* place) {
    struct row_page_key key = {place->executable_id, place->file_offset >> 16};
    struct row_page* page = bpf_map_lookup_elem(&row_pages, &key);
    void* rows = bpf_map_lookup_elem(&rows_of_executables, &key.executable_id);
    __u16 low_offset = place->file_offset;
    __u32 begin, end, code = CODE_NO_CFI;

    if (!page || !rows) return CODE_NO_CFI;
    begin = page->first_row;
    end = page->end_row;
    for (int i = 0; i < MAX_ROW_STEPS && begin < end; i++) {
        __u32 middle = (begin + end) / 2;
        struct row* row = bpf_map_lookup_elem(rows, &middle);

        if (!row) return CODE_NO_CFI;
        if (row->low_offset <= low_offset) {
            code = row->code;
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return code;
}

/* ---- programs
 * ------------------------------------------------------------------------------------ */

/* Set by user space before a run. */
__u32 place_mask;
__u32 next_place;
/* Sum of all codes found: both ways have to agree. */
__u64 checksum;

static __always_inline const struct place* take_place(void) {
    __u32 index = next_place & place_mask;

    next_place++;
    return bpf_map_lookup_elem(&places, &index);
}

static long find_in_table(__u32 turn, void* unused) {
    const struct place* place = take_place();

    if (!place) return 1;
    checksum += find_unwind_code(&place->executable, place->file_offset);
    return 0;
}

static long find_in_rows(__u32 turn, void* unused) {
    const struct place* place = take_place();

    if (!place) return 1;
    checksum += find_row_code(place);
    return 0;
}

static long find_nothing(__u32 turn, void* unused) {
    const struct place* place = take_place();

    if (!place) return 1;
    checksum += place->file_offset + place->executable.first_word;
    return 0;
}

SEC("tc")
int look_up_table(void* ctx) {
    bpf_loop(LOOKUPS_A_RUN, find_in_table, NULL, 0);
    return 0;
}

SEC("tc")
int look_up_rows(void* ctx) {
    bpf_loop(LOOKUPS_A_RUN, find_in_rows, NULL, 0);
    return 0;
}

SEC("tc")
int look_up_nothing(void* ctx) {
    bpf_loop(LOOKUPS_A_RUN, find_nothing, NULL, 0);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
