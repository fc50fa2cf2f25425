/* SPDX-License-Identifier: Apache-2.0 */
#include "user_walk/unwinder.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <string.h>

#include "core_types.h"

/* ---- maps --------------------------------------------------------------------------------------
 */

#define MAP_KIND(map) (sizeof(*(map).type) / sizeof(int))
#define MAP_ENTRIES(map) (sizeof(*(map).max_entries) / sizeof(int))

static const __u32* const* buckets;
static __s64 missing_bucket;

static inline __attribute__((always_inline)) void* bucket_of_number(__u32 number) {
    const void* words = buckets[number % MAX_BUCKETS];

    if (__builtin_expect(!words, 0)) missing_bucket = number;
    return (void*)words;
}

/* What find_bucket() holds after its first lookup: the address of a bucket's words. */
enum { KIND_OF_BUCKET = 1000 }; /* behind all of enum bpf_map_type */
struct bucket_map {
    int (*type)[KIND_OF_BUCKET];
    int (*max_entries)[1];
    char* value;
};

#define bpf_map_lookup_elem(map, key_place)                                              \
    ({                                                                                   \
        typeof(_Generic((map), void*: (struct bucket_map*)0, default: (map))) host_map = \
            (void*)(map);                                                                \
        const __u32 host_key = *(const __u32*)(key_place);                               \
        host_key >= MAP_ENTRIES(*host_map)                  ? (void*)0                   \
        : MAP_KIND(*host_map) == BPF_MAP_TYPE_ARRAY_OF_MAPS ? bucket_of_number(host_key) \
        : MAP_KIND(*host_map) == KIND_OF_BUCKET             ? (void*)host_map            \
                                                            : (void*)(host_map->value + host_key);   \
    })

/* ---- memory ------------------------------------------------------------------------------------
 */

static const struct walk_process* current;
/* Where a window that could be filled in part says how far. */
static __u64* window_bytes;

/* libc's, whatever gcc thinks of a size that it does not know: `rep movsq` is 30 ns slower. */
static void* (*const volatile copy_many)(void*, const void*, size_t) = memcpy;

/* In fill_window() this name is its parameter, how many of the window's bytes have to be there. The
 * kernel has whole pages; of a recorded stack the last one may have been copied in part. */
static const __u32 needed_bytes = 0;

static __attribute__((noinline)) long read_elsewhere(void* to, __u32 size, __u64 vaddr,
                                                     __u32 needed) {
    __u32 there;

    if (!current->read_elsewhere) return -14; /* EFAULT */
    there = current->read_elsewhere(current->elsewhere, to, size, vaddr);
    if (there == size) return 0;
    if (!needed || there < needed) return -14;
    *window_bytes = there;
    return 0;
}

static inline __attribute__((always_inline)) long read_user(void* to, __u32 size, __u64 vaddr,
                                                            __u32 needed) {
    const __u64 offset = vaddr - current->stack_vaddr;

    if (offset < current->stack_bytes && size <= current->stack_bytes - offset) {
        const char* from = (const char*)current->stack + offset;

        if (__builtin_constant_p(size))
            memcpy(to, from, size);
        else
            copy_many(to, from, size);
        return 0;
    }
    return read_elsewhere(to, size, vaddr, needed);
}

#define bpf_probe_read_user(to, size, from) read_user(to, size, (__u64)(from), needed_bytes)

/* Rule memory is asked of by walk_stack_again() alone, whose process does not change: mm_lock_seq
 * stands at 0, which is even. */
static struct mm_struct mm;
static struct task_struct only_task = {.mm = &mm};
#define bpf_get_current_task_btf() (&only_task)

/* ---- mappings: a sorted array in the place of the kernel's tree and of the files by inode ------
 */

#define BOBBIN_FIND_MAPPING_BPF_H
#define BOBBIN_IDENTIFY_FILE_BPF_H

enum search_lane { LANE_TICK };

struct found_mapping {
    __u64 vm_start_vaddr;
    __u64 vm_end_vaddr;
    __u64 file_offset;
    __u64 flags;
    __u64 inode; /* address of its walk_mapping; 0: no file behind it */
};

struct mapping_search {
    struct found_mapping found;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct mapping_search);
} mapping_searches;

static int find_mapping(__u32 lane, __u64 mm_address, __u64 address) {
    const struct walk_mapping* at = current->mappings;
    __u64 left = current->mapping_count;
    int is_file;

    (void)lane;
    (void)mm_address;
    if (!left) return 1;
    while (left > 1) {
        const __u64 half = left / 2;

        at += at[half].start_vaddr <= address ? half : 0;
        left -= half;
    }
    is_file = at->executable_id || at->is_file_without;
    mapping_searches.value->found = (struct found_mapping){
        .vm_start_vaddr = at->start_vaddr,
        .vm_end_vaddr = at->end_vaddr,
        .file_offset = at->file_offset,
        .flags = at->is_executable ? VM_EXEC : 0,
        .inode = is_file && at->start_vaddr != current->vdso_vaddr ? (__u64)at : 0,
    };
    return address < at->start_vaddr || address >= at->end_vaddr;
}

static struct file_entry found_file;

static struct file_entry* identify_file(const struct found_mapping* found, __u32 pid,
                                        __u32 reason) {
    const struct walk_mapping* mapping = (const void*)found->inode;

    (void)pid;
    (void)reason;
    if (mapping->is_file_without) return NULL;
    found_file =
        (struct file_entry){.executable_id = mapping->executable_id, .state = mapping->file_state};
    return &found_file;
}

/* ---- the unwinder ------------------------------------------------------------------------------
 */

#include "walk_user_stack.bpf.h"

static struct walk_state the_walk;
static struct mapping_search the_search;
static struct outcome_counters the_counters;
static struct remembered_walk the_memory[2];

void use_unwind_tables(const struct unwind_tables* tables) {
    mapping_searches.value = &the_search;
    outcome_counts.value = &the_counters;
    walk_states.value = &the_walk;
    remembered_walks.value = the_memory;
    executables.value = (struct executable*)tables->executables;
    special_rules.value = (struct special_rule*)tables->special_rules;
    macros.value = (struct macro*)tables->macros;
    buckets = tables->buckets;
    missing_bucket = -1;
    window_bytes = &the_walk.window_bytes;
}

__s64 missing_unwind_bucket(void) { return missing_bucket; }

static struct walk_state* stand_in(const struct walk_process* process) {
    struct walk_state* walk = walk_states.value;

    current = process;
    mm.start_stack = process->start_stack_vaddr;
    walk->mm = (__u64)&mm;
    walk->vdso = process->vdso_vaddr;
    walk->frame_count = 0;
    walk->frame_limit = MAX_USER_FRAMES;
    return walk;
}

static struct walk_state* begin(const struct walk_process* process,
                                const __u64 registers[WALK_REGISTERS]) {
    struct walk_state* walk = stand_in(process);
    __u64* words = (__u64*)&walk->registers;

    for (__u32 i = 0; i < GENERAL_REGISTERS; i++) words[word_in_pt_regs[i]] = registers[i];
    walk->registers.rip = registers[GENERAL_REGISTERS];
    start_walk(walk);
    return walk;
}

_Static_assert(sizeof(struct pt_regs) == 8 * PAUSED_REGISTERS, "registers are copied whole");

static void stand_at(struct walk_state* walk, const struct paused_walk* at) {
    memcpy(&walk->registers, at->registers, sizeof(walk->registers));
    start_walk(walk);
    walk->rip = at->rip;
    walk->rsp = at->rsp;
    walk->rbp = at->rbp;
    walk->rip_is_return_address = (at->flags & PAUSED_AT_RETURN_ADDRESS) != 0;
    walk->rbx_known = (at->flags & PAUSED_RBX_KNOWN) != 0;
    walk->by_frame_pointer = at->by_frame_pointer;
}

static void note_position(const struct walk_state* walk, struct paused_walk* at) {
    memcpy(at->registers, &walk->registers, sizeof(walk->registers));
    at->rip = walk->rip;
    at->rsp = walk->rsp;
    at->rbp = walk->rbp;
    at->flags &= ~(__u32)(PAUSED_AT_RETURN_ADDRESS | PAUSED_RBX_KNOWN);
    at->flags |= walk->rip_is_return_address ? PAUSED_AT_RETURN_ADDRESS : 0;
    at->flags |= walk->rbx_known ? PAUSED_RBX_KNOWN : 0;
    at->by_frame_pointer = walk->by_frame_pointer;
}

__u32 walk_on_from(const struct walk_process* process, struct paused_walk* at, __u32 most_frames,
                   const frame_word** frames, __u32* end) {
    struct walk_state* walk = stand_in(process);

    walk->frame_limit = most_frames;
    stand_at(walk, at);
    while (!step_to_caller(walk, NULL)) {
    }
    note_position(walk, at);
    *frames = walk->record.frames;
    *end = walk->walk_end;
    return walk->frame_count;
}

__u32 walk_frames(const struct walk_process* process, const __u64 registers[WALK_REGISTERS],
                  struct walked_frame* frames, __u32* end) {
    struct walk_state* walk = begin(process, registers);
    int ended = 0;

    while (!ended) {
        const __u32 at = walk->frame_count;

        if (at < MAX_USER_FRAMES)
            frames[at] = (struct walked_frame){.pc_vaddr = walk->rip,
                                               .rsp = walk->rsp,
                                               .rbp = walk->rbp,
                                               .is_return_address = walk->rip_is_return_address};
        ended = step_to_caller(walk, NULL);
        if (walk->frame_count > at) frames[at].word = walk->record.frames[at];
    }
    *end = walk->walk_end;
    return walk->frame_count;
}

__u32 walk_stack(const struct walk_process* process, const __u64 registers[WALK_REGISTERS]) {
    struct walk_state* walk = begin(process, registers);

    while (!step_to_caller(walk, NULL)) {
    }
    return walk->frame_count;
}

__u32 walk_stack_again(const struct walk_process* process, const __u64 registers[WALK_REGISTERS]) {
    struct walk_state* walk = begin(process, registers);
    struct rule_memory memory = {};

    open_rule_memory(walk, &memory);
    while (!step_to_caller(walk, &memory)) {
    }
    return walk->frame_count;
}
