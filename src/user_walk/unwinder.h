/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOBBIN_USER_WALK_UNWINDER_H
#define BOBBIN_USER_WALK_UNWINDER_H

/* The unwinder of bpf/ in user space: the same C steps through the registers and the stack of a
 * stopped or recorded thread, by the same tables. What the kernel does for a BPF program is inlined
 * here as the verifier inlines it there: array lookups are an index, user memory is a copy.
 *
 * There is one unwinder, as there is one on each CPU: one thread at a time. */

#include <linux/types.h>

#include "bobbin/bpf_abi.h"

// NOLINTBEGIN(readability-identifier-naming): C, named as the structs of bpf_abi.h
#ifdef __cplusplus
namespace bobbin::user_walk {
extern "C" {
#define BOBBIN_WALK_ABI abi::
#else
#define BOBBIN_WALK_ABI
#endif

/* The kernel side's maps; they may change while they are used, as they do there. Whatever they
 * hold, nothing outside of them is read. */
struct unwind_tables {
    const struct BOBBIN_WALK_ABI executable* executables;     /* MAX_EXECUTABLES */
    const struct BOBBIN_WALK_ABI special_rule* special_rules; /* MAX_SPECIAL_RULES */
    const struct BOBBIN_WALK_ABI macro* macros;               /* MAX_MACROS */
    const __u32* const* buckets; /* MAX_BUCKETS; NULL: there is none of this number */
};

struct walk_mapping {
    __u64 start_vaddr;
    __u64 end_vaddr;
    __u64 file_offset;
    __u32 executable_id;   /* 0: no file, or one without an id */
    __u32 is_executable;   /* VM_EXEC */
    __u32 file_state;      /* enum file_state */
    __u32 is_file_without; /* an id: WALK_END_FILES_FULL */
};

/* What the walker may see of a process. */
struct walk_process {
    const struct walk_mapping* mappings; /* ascending */
    __u64 mapping_count;
    __u64 vdso_vaddr;
    __u64 start_stack_vaddr; /* rsp at the program's first instruction; 0: not known */
    __u64 stack_vaddr;
    __u64 stack_bytes;
    const void* stack;
    /* Asked for what is not all in `stack`, if there is one: copies up to `size` bytes to `to` and
     * returns how many there are from `from_vaddr` on without a gap. */
    __u32 (*read_elsewhere)(const void* elsewhere, void* to, __u32 size, __u64 from_vaddr);
    const void* elsewhere;
};

enum { WALK_REGISTERS = 17 }; /* by DWARF number, psABI x86-64 figure 3.36; the last is rip */

struct walked_frame {
    __u64 pc_vaddr; /* a return address as it stands on the stack, not stepped back */
    __u64 rsp;
    __u64 rbp;
    BOBBIN_WALK_ABI frame_word word;
    __u32 is_return_address;
    __u32 unused;
};

/* What the walks from here on find rules in. They are borrowed. */
void use_unwind_tables(const struct unwind_tables* tables);

/* Goes on from where `at` stands, its frame included, and moves `at` to where the walk ended, so
 * that it can go on once more. Returns how many frames there are and sets `frames`, which stands
 * until the next walk, and `end` to an enum walk_end. */
__u32 walk_on_from(const struct walk_process* process, struct BOBBIN_WALK_ABI paused_walk* at,
                   __u32 most_frames, const BOBBIN_WALK_ABI frame_word** frames, __u32* end);

/* A bucket that was looked for since use_unwind_tables() and is not there; -1: none. */
__s64 missing_unwind_bucket(void);

/* The whole walk. `frames` has room for MAX_USER_FRAMES. */
__u32 walk_frames(const struct walk_process* process, const __u64 registers[WALK_REGISTERS],
                  struct walked_frame* frames, __u32* end);
/* The same without a word about any frame: what a step costs. */
__u32 walk_stack(const struct walk_process* process, const __u64 registers[WALK_REGISTERS]);
/* The same with rule memory (bpf/rule_memory.bpf.h): every call is for one thread whose mappings do
 * not change. */
__u32 walk_stack_again(const struct walk_process* process, const __u64 registers[WALK_REGISTERS]);

#ifdef __cplusplus
} /* extern "C" */
} /* namespace bobbin::user_walk */
#endif
// NOLINTEND(readability-identifier-naming)
#undef BOBBIN_WALK_ABI
#endif
