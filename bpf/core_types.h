/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOBBIN_CORE_TYPES_H
#define BOBBIN_CORE_TYPES_H

/* The few kernel structs that are looked into, with only the fields that are used: libbpf moves each
 * access to where the running kernel has the field (CO-RE). A ___suffix names a field of other
 * kernels and is not part of the type's name. Never a dumped vmlinux.h: that is 105,000 lines nobody
 * reads, and the build would depend on the machine it runs on. */

#include <linux/types.h>

#if defined(__bpf__)
#define CORE_TYPE __attribute__((preserve_access_index))
#else
#define CORE_TYPE
#endif

struct super_block {
	__u32 s_dev;
} CORE_TYPE;

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
} CORE_TYPE;

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
	__s64 i_size;
	__u32 i_generation;
	__s64 i_mtime_sec; /* since 6.11 */
	__u32 i_mtime_nsec;
} CORE_TYPE;

struct inode___6_7 {
	struct timespec64 __i_mtime; /* 6.7 to 6.10 */
} CORE_TYPE;

struct inode___old {
	struct timespec64 i_mtime; /* to 6.6 */
} CORE_TYPE;

struct file {
	struct inode *f_inode;
} CORE_TYPE;

struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
} CORE_TYPE;

struct rb_root {
	struct rb_node *rb_node;
} CORE_TYPE;

struct mm_struct;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
} CORE_TYPE;

struct vm_area_struct___rbtree {
	struct rb_node vm_rb; /* to 6.0 */
} CORE_TYPE;

struct maple_tree {
	void *ma_root;
} CORE_TYPE;

struct mm_struct {
	struct maple_tree mm_mt; /* since 6.1 */
	unsigned long start_code;
	unsigned long start_stack; /* rsp at the program's first instruction */
	struct {
		void *vdso;
	} context; /* mm_context_t */
} CORE_TYPE;

struct mm_struct___rbtree {
	struct rb_root mm_rb; /* to 6.0 */
} CORE_TYPE;

/* The kernel's own pt_regs; <asm/ptrace.h> has the same struct under other field names. */
struct pt_regs___kernel {
	unsigned long bp;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
} CORE_TYPE;

struct signal_struct___live {
	struct {
		int counter;
	} live;
} CORE_TYPE;

struct task_struct {
	int pid;
	int tgid;
	unsigned int flags;
	void *stack;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct signal_struct___live *signal;
	__u64 start_boottime;
	char comm[16];
	unsigned in_execve : 1;
} CORE_TYPE;

struct bpf_iter__task_vma {
	struct task_struct *task;
	struct vm_area_struct *vma;
} CORE_TYPE;

enum {
	PF_KTHREAD = 0x00200000, /* include/linux/sched.h */
	VM_EXEC = 4, /* include/linux/mm.h */
	PAGE_SHIFT = 12,
	USER_CS_32_BIT = 0x23, /* arch/x86/include/asm/segment.h: __USER32_CS */
	THREAD_BYTES = 16384, /* x86-64 without KASAN: THREAD_SIZE */
};

#endif
