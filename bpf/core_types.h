/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
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
	struct {
		__u32 sequence;
	} mm_lock_seq; /* since 6.13, with CONFIG_PER_VMA_LOCK */
} CORE_TYPE;

struct mm_struct___6_4 {
	int mm_lock_seq; /* to 6.12 */
	struct {
		struct {
			__s64 counter;
		} count;
	} mmap_lock;
} CORE_TYPE;

struct mm_struct___rbtree {
	struct rb_root mm_rb; /* to 6.0 */
} CORE_TYPE;

/* As large as the stack of a thread: asm/page_64_types.h gives both the order 2 + KASAN_STACK_ORDER. The
 * size of a thread's own is in no BTF (union thread_union is of no variable). */
struct irq_stack {
	char stack[16384];
} CORE_TYPE;

struct kernel_clone_args {
	__u32 user_worker : 1; /* since 6.4 */
} CORE_TYPE;

struct signal_struct___live {
	struct {
		int counter;
	} live;
} CORE_TYPE;

struct kernfs_node {
	__u64 id;
} CORE_TYPE;

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} CORE_TYPE;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
} CORE_TYPE;

struct css_set {
	struct cgroup *dfl_cgrp; /* in the hierarchy of version 2 */
} CORE_TYPE;

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
} CORE_TYPE;

struct pid {
	unsigned int level; /* of its namespace; numbers[0] is the root's */
	struct upid numbers[1];
} CORE_TYPE;

struct task_struct {
	int pid;
	int tgid;
	unsigned int flags;
	void *stack;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct pid *thread_pid;
	struct css_set *cgroups;
	struct signal_struct___live *signal;
	__u64 start_boottime;
	__u64 self_exec_id;
	char comm[16];
	unsigned in_execve : 1;
} CORE_TYPE;

struct bpf_iter__task {
	struct task_struct *task;
} CORE_TYPE;

struct bpf_iter__task_vma {
	struct task_struct *task;
	struct vm_area_struct *vma;
} CORE_TYPE;

enum {
	PF_IO_WORKER = 0x00000010, /* include/linux/sched.h */
	PF_USER_WORKER = 0x00004000, /* since 6.4; PF_USED_ASYNC up to 5.16 */
	PF_KTHREAD = 0x00200000,
	VM_EXEC = 4, /* include/linux/mm.h */
	RWSEM_WRITER_LOCKED = 1, /* kernel/locking/rwsem.c */
	PAGE_SHIFT = 12,
	USER_CS_32_BIT = 0x23, /* arch/x86/include/asm/segment.h: __USER32_CS */
};

#endif
