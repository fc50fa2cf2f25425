/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOBBIN_WALK_ON_HOST_H
#define BOBBIN_WALK_ON_HOST_H

/* The unwinder of bpf/ as a user-space walker: the same C steps through the registers and the stack
 * of a stopped or recorded process. What the kernel does for a BPF program is inlined here as the
 * verifier inlines it there: array lookups are an index, user memory is a copy. */

#include <linux/types.h>

#include "bobbin/bpf_abi.h"

#ifdef __cplusplus
extern "C" {
#define WALK_ABI ::bobbin::abi::
#else
#define WALK_ABI
#endif

enum { WALK_REGISTERS = 17 }; /* by DWARF number, psABI x86-64 figure 3.36; the last is rip */

struct walk_mapping {
    __u64 start_vaddr;
    __u64 end_vaddr;
    __u64 file_offset;
    __u32 executable_id; /* 0: no file */
    __u32 is_executable; /* VM_EXEC */
    __u32 file_state;    /* enum file_state */
    __u32 unused;
};

/* What the walker may see of a process. Memory outside of `stack` is asked of `read_elsewhere`, if
 * there is one; it returns 0 when it has filled `to`. */
struct walk_process {
    const struct walk_mapping* mappings; /* ascending */
    __u64 mapping_count;
    __u64 vdso_vaddr;
    __u64 start_stack_vaddr;
    __u64 stack_vaddr;
    __u64 stack_bytes;
    const void* stack;
    long (*read_elsewhere)(void* to, __u32 size, __u64 from_vaddr);
};

struct walked_frame {
    __u64 pc_vaddr; /* a return address as it stands on the stack, not stepped back */
    __u64 rsp;
    WALK_ABI frame_word word;
    __u32 is_return_address;
    __u32 unused;
};

/* Empty tables. Once. */
void walk_create_tables(void);
/* The kernel side's maps. Each returns 0 when there was room. */
int walk_write_words(__u32 first_word, const __u32* words, __u64 count);
int walk_write_special_rules(__u32 first_index, const struct WALK_ABI special_rule* rules,
                             __u64 count);
int walk_write_macros(__u32 first_index, const struct WALK_ABI macro* new_macros, __u64 count);
int walk_set_executable(__u32 executable_id, const struct WALK_ABI executable* executable);

/* Walks to the end; returns how many frames there are and sets `end` to an enum walk_end. `frames`
 * has room for MAX_USER_FRAMES. One thread at a time. */
__u32 walk_frames(const struct walk_process* process, const __u64 registers[WALK_REGISTERS],
                  struct walked_frame* frames, __u32* end);
/* The same without a word about any frame: what bobbin itself needs. */
__u32 walk_stack(const struct walk_process* process, const __u64 registers[WALK_REGISTERS]);
/* The same with rule memory (bpf/rule_memory.bpf.h): every call is for one thread whose mappings do
 * not change. */
__u32 walk_stack_again(const struct walk_process* process, const __u64 registers[WALK_REGISTERS]);

#ifdef __cplusplus
}
#endif
#endif
