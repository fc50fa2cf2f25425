/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOBBIN_PROFILER_ON_HOST_H
#define BOBBIN_PROFILER_ON_HOST_H

/* What the tests may ask of bpf/profiler.bpf.c compiled for the host. */

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct host_registers {
    __u64 rip;
    __u64 rsp;
    __u64 rbp;
    __u64 cs; /* 0x33: 64-bit user mode */
};

struct host_mapping {
    __u64 start_vaddr;
    __u64 end_vaddr;
    __u64 file_offset;
    __u64 inode_number; /* 0: no file */
    __u32 executable;   /* VM_EXEC */
};

enum { HOST_MAX_MAPPINGS = 600 };

/* Tells fake_kernel.cpp of every map. Once. */
void host_register_maps(void);

/* The current process: its mappings in a maple tree of leaves under one node, its [vdso]. */
void host_set_process(const struct host_mapping* mappings, __u32 count, __u64 vdso_vaddr);
/* Its number in each pid namespace from the root's down to its own, and what these are called; the
 * agent's /proc shows the one called HOST_SHOWN_NAMESPACE. */
enum { HOST_MAX_LEVELS = 4, HOST_SHOWN_NAMESPACE = 7, HOST_SHOWN_LEVEL = 1 };
struct host_number {
    __u32 number;
    __u32 namespace_called;
};
void host_set_numbers(const struct host_number* numbers, __u32 count);
/* rsp at the first instruction of the current process. */
void host_set_start_stack(__u64 vaddr);
/* Key of the file with this inode number as the program will see it. */
void host_file_key(__u64 inode_number, void* key);
/* As the kernel sets it for the length of an execve. */
void host_set_in_execve(int in_execve);
/* 0: found */
int host_find_next_mapping(__u64 vaddr, struct host_mapping* found);
int host_find_mapping(__u64 vaddr, struct host_mapping* found);

void host_set_kernel_thread(int is_kernel_thread);
void host_set_targets_only(int only);
void host_leave_out(int kernel_frames, int user_frames);

/* A tick in user mode with these registers, or in kernel mode after they were saved. */
void host_tick(const struct host_registers* registers, int in_kernel_mode);
/* All other general registers of the ticks that follow, by DWARF number; 6 and 7 are not looked at.
 */
void host_set_other_registers(const __u64 by_dwarf_number[16]);
/* As a change of the process's mappings moves it on: 2 a change, odd while it goes on. */
void host_set_mmap_lock_sequence(__u32 sequence);
void host_set_rule_generation(__u64 generation);
void host_set_rule_memory(int used, int checked);
/* PF_* of the current thread. */
void host_set_thread_flags(__u32 flags);
void host_exec(__u64 start_code_vaddr);

/* Addresses of maps, for fake_kernel.h. */
void* host_map_files(void);
void* host_map_free_ids(void);
void* host_map_executables(void);
void* host_map_special_rules(void);
void* host_map_macros(void);
void* host_map_unwind_buckets(void);
void* host_map_samples(void);
void* host_map_announcements(void);
void* host_map_outcome_counts(void);
void* host_map_target_processes(void);

#ifdef __cplusplus
}
#endif
#endif
