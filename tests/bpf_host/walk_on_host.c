/* SPDX-License-Identifier: GPL-2.0-only */
#include "walk_on_host.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/core_types.h"

/* These shape code for the verifier; here nobody looks. */
#undef barrier
#undef barrier_var
#undef __noinline
#define barrier()
#define barrier_var(variable)
#define __noinline static inline

/* ---- maps as plain arrays ----------------------------------------------------------------------
 * A map is a struct whose members' types say what it is (bpf_helpers.h of this folder); here its
 * member `value` also holds where its values are. */

#undef __array
#define __array(name, of) typeof(of)* value

#define MAP_KIND(map) (sizeof(*(map).type) / sizeof(int))
#define MAP_ENTRIES(map) (sizeof(*(map).max_entries) / sizeof(int))
#define CREATE_MAP(map) ((map).value = calloc(MAP_ENTRIES(map), sizeof(*(map).value)))

static void* buckets[MAX_BUCKETS];

/* What find_bucket() holds after its first lookup: the address of a bucket's words. */
struct bucket_map {
    int (*type)[BPF_MAP_TYPE_UNSPEC + 1000];
    int (*max_entries)[1];
    char* value;
};

#define bpf_map_lookup_elem(map, key_place)                                                        \
    ({                                                                                             \
        typeof(_Generic((map), void*: (struct bucket_map*)0, default: (map))) host_map =           \
            (void*)(map);                                                                          \
        const __u32 host_key = *(const __u32*)(key_place);                                         \
        host_key >= MAP_ENTRIES(*host_map)                  ? (void*)0                             \
        : MAP_KIND(*host_map) == BPF_MAP_TYPE_ARRAY_OF_MAPS ? buckets[host_key % MAX_BUCKETS]      \
        : MAP_KIND(*host_map) == BPF_MAP_TYPE_UNSPEC + 1000 ? (void*)host_map                      \
                                                            : (void*)(host_map->value + host_key); \
    })

/* ---- memory ------------------------------------------------------------------------------------
 */

static const struct walk_process* current;

/* libc's, whatever gcc thinks of a size that it does not know: `rep movsq` is 30 ns slower. */
static void* (*const volatile copy_many)(void*, const void*, size_t) = memcpy;

static inline __attribute__((always_inline)) long read_user(void* to, __u32 size, __u64 vaddr) {
    const __u64 offset = vaddr - current->stack_vaddr;

    if (offset < current->stack_bytes && size <= current->stack_bytes - offset) {
        const char* from = (const char*)current->stack + offset;

        if (__builtin_constant_p(size))
            memcpy(to, from, size);
        else
            copy_many(to, from, size);
        return 0;
    }
    return current->read_elsewhere ? current->read_elsewhere(to, size, vaddr) : -14; /* EFAULT */
}

static inline __attribute__((always_inline)) long read_own(void* to, __u32 size, const void* from) {
    memcpy(to, from, size);
    return 0;
}

#define bpf_probe_read_user(to, size, from) read_user(to, size, (__u64)(from))
#define bpf_probe_read_kernel(to, size, from) read_own(to, size, from)

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

    (void)lane;
    (void)mm_address;
    if (!left) return 1;
    while (left > 1) {
        const __u64 half = left / 2;

        at += at[half].start_vaddr <= address ? half : 0;
        left -= half;
    }
    mapping_searches.value->found = (struct found_mapping){
        .vm_start_vaddr = at->start_vaddr,
        .vm_end_vaddr = at->end_vaddr,
        .file_offset = at->file_offset,
        .flags = at->is_executable ? VM_EXEC : 0,
        .inode = at->executable_id && at->start_vaddr != current->vdso_vaddr ? (__u64)at : 0,
    };
    return address < at->start_vaddr || address >= at->end_vaddr;
}

static struct file_entry found_file;

static struct file_entry* identify_file(const struct found_mapping* found, __u32 pid,
                                        __u32 reason) {
    const struct walk_mapping* mapping = (const void*)found->inode;

    (void)pid;
    (void)reason;
    found_file =
        (struct file_entry){.executable_id = mapping->executable_id, .state = mapping->file_state};
    return &found_file;
}

/* ---- the unwinder ------------------------------------------------------------------------------
 */

#include "../../bpf/walk_user_stack.bpf.h"

void walk_create_tables(void) {
    CREATE_MAP(mapping_searches);
    CREATE_MAP(outcome_counts);
    CREATE_MAP(special_rules);
    CREATE_MAP(macros);
    CREATE_MAP(executables);
    CREATE_MAP(walk_states);
    CREATE_MAP(remembered_walks);
}

int walk_write_words(__u32 first_word, const __u32* words, __u64 count) {
    while (count) {
        const __u32 bucket = first_word >> BUCKET_WORDS_SHIFT;
        const __u32 at = first_word & (BUCKET_WORDS - 1);
        const __u64 here = count < BUCKET_WORDS - at ? count : BUCKET_WORDS - at;

        if (bucket >= MAX_BUCKETS) return 1;
        if (!buckets[bucket]) buckets[bucket] = calloc(1, BUCKET_BYTES);
        if (!buckets[bucket]) return 1;
        memcpy((__u32*)buckets[bucket] + at, words, here * sizeof(*words));
        words += here;
        first_word += (__u32)here;
        count -= here;
    }
    return 0;
}

int walk_write_special_rules(__u32 first_index, const struct special_rule* rules, __u64 count) {
    if (first_index + count > MAX_SPECIAL_RULES) return 1;
    memcpy(special_rules.value + first_index, rules, count * sizeof(*rules));
    return 0;
}

int walk_write_macros(__u32 first_index, const struct macro* new_macros, __u64 count) {
    if (first_index + count > MAX_MACROS) return 1;
    memcpy(macros.value + first_index, new_macros, count * sizeof(*new_macros));
    return 0;
}

int walk_set_executable(__u32 executable_id, const struct executable* executable) {
    if (executable_id >= MAX_EXECUTABLES) return 1;
    executables.value[executable_id] = *executable;
    return 0;
}

static struct walk_state* begin(const struct walk_process* process,
                                const __u64 registers[WALK_REGISTERS]) {
    struct walk_state* walk = walk_states.value;
    __u64* words = (__u64*)&walk->registers;

    current = process;
    mm.start_stack = process->start_stack_vaddr;
    walk->mm = (__u64)&mm;
    walk->vdso = process->vdso_vaddr;
    walk->frame_count = 0;
    walk->frame_limit = MAX_USER_FRAMES;
    for (__u32 i = 0; i < GENERAL_REGISTERS; i++) words[word_in_pt_regs[i]] = registers[i];
    walk->registers.rip = registers[GENERAL_REGISTERS];
    start_walk(walk);
    return walk;
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
