/* SPDX-License-Identifier: GPL-2.0-only */
/* The unchanged kernel side, compiled for the host, and a process for it to look at. */

#include "profiler_on_host.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <string.h>

#include "bobbin/bpf_abi.h"
#include "fake_kernel.h"

/* `const volatile` settings are written before loading; here the tests write them. */
#define const
#include "../../bpf/profiler.bpf.c"
#undef const

#define ELEMENTS(map) (sizeof(*(map).max_entries) / sizeof(int))
#define KEYED(map, kind) \
    fake_map_create(&(map), kind, sizeof(*(map).key), sizeof(*(map).value), ELEMENTS(map))
#define UNKEYED(map, kind, value_size) fake_map_create(&(map), kind, 0, value_size, ELEMENTS(map))

void host_register_maps(void) {
    KEYED(outcome_counts, FAKE_ARRAY);
    KEYED(mapping_searches, FAKE_ARRAY);
    KEYED(files, FAKE_HASH);
    UNKEYED(free_executable_ids, FAKE_QUEUE, sizeof(__u32));
    UNKEYED(announcements, FAKE_RING, 0);
    UNKEYED(samples, FAKE_RING, 0);
    fake_map_create(&unwind_buckets, FAKE_ARRAY_OF_MAPS, sizeof(__u32),
                    sizeof(struct unwind_bucket), ELEMENTS(unwind_buckets));
    KEYED(executables, FAKE_ARRAY);
    KEYED(special_rules, FAKE_ARRAY);
    KEYED(macros, FAKE_ARRAY);
    KEYED(walk_states, FAKE_ARRAY);
    KEYED(paused_records, FAKE_ARRAY);
    KEYED(remembered_walks, FAKE_ARRAY);
    KEYED(target_processes, FAKE_HASH);
}

/* ---- the process -------------------------------------------------------------------------------
 */

enum {
    LEAF_RANGES = 16, /* slots of a leaf */
    INNER_SLOTS = 10,
    MAX_NODES = 128,
    HOST_PID = 4242,
};

struct maple_node {
    __u64 words[MAPLE_NODE_WORDS];
} __attribute__((aligned(256)));

static struct maple_node nodes[MAX_NODES];
static __u32 node_count;
static struct vm_area_struct vmas[HOST_MAX_MAPPINGS];
static struct file vma_files[HOST_MAX_MAPPINGS];
static struct inode inodes[HOST_MAX_MAPPINGS];
static struct super_block super_block = {.s_dev = 0xfe00001};
static struct mm_struct mm;
static struct task_struct task;
static struct pt_regs saved_registers;
static struct pt_regs other_registers;
static struct signal_struct___live live_threads = {.live = {1}};

struct range {
    __u64 last;  /* inclusive */
    __u64 entry; /* vma or 0; above the leaves an encoded node */
};

static __u64 make_node(struct range* ranges, __u32 count, __u64 type) {
    __u32 pivots = type == MAPLE_ARANGE_64 ? MAPLE_ARANGE_PIVOTS : MAPLE_RANGE_PIVOTS;
    struct maple_node* node = &nodes[node_count++];

    memset(node, 0, sizeof(*node));
    for (__u32 i = 0; i < count; i++) {
        if (i < pivots) node->words[1 + i] = ranges[i].last;
        node->words[1 + pivots + i] = ranges[i].entry;
    }
    return (__u64)node | type << 3 | 4;
}

/* Groups ranges into nodes of `width` until one node is left. */
static __u64 build_tree(struct range* ranges, __u32 count) {
    __u64 type = MAPLE_LEAF_64;
    __u32 width = LEAF_RANGES;

    do {
        __u32 made = 0;

        for (__u32 i = 0; i < count; i += width) {
            __u32 here = count - i < width ? count - i : width;
            __u64 last = ranges[i + here - 1].last;
            __u64 node = make_node(&ranges[i], here, type);

            ranges[made].last = last;
            ranges[made++].entry = node;
        }
        count = made;
        type = MAPLE_ARANGE_64;
        width = INNER_SLOTS;
    } while (count > 1);
    return ranges[0].entry | 2;
}

static void make_inode(struct inode* inode, __u64 number) {
    inode->i_ino = number;
    inode->i_sb = &super_block;
    inode->i_size = 1000 + number;
    inode->i_generation = 7;
    inode->i_mtime_sec = 1700000000;
    inode->i_mtime_nsec = 5;
}

void host_set_process(const struct host_mapping* mappings, __u32 count, __u64 vdso_vaddr) {
    static struct range ranges[2 * HOST_MAX_MAPPINGS + 1];
    __u32 range_count = 0;
    __u64 next = 0;

    node_count = 0;
    for (__u32 i = 0; i < count; i++) {
        const struct host_mapping* mapping = &mappings[i];

        if (mapping->start_vaddr > next)
            ranges[range_count++] = (struct range){mapping->start_vaddr - 1, 0};
        make_inode(&inodes[i], mapping->inode_number);
        vma_files[i].f_inode = &inodes[i];
        vmas[i] = (struct vm_area_struct){
            .vm_start = mapping->start_vaddr,
            .vm_end = mapping->end_vaddr,
            .vm_mm = &mm,
            .vm_flags = mapping->executable ? VM_EXEC : 0,
            .vm_pgoff = mapping->file_offset >> PAGE_SHIFT,
            .vm_file = mapping->inode_number ? &vma_files[i] : NULL,
        };
        ranges[range_count++] = (struct range){mapping->end_vaddr - 1, (__u64)&vmas[i]};
        next = mapping->end_vaddr;
    }
    ranges[range_count++] = (struct range){~0ULL, 0};
    mm.mm_mt.ma_root = (void*)build_tree(ranges, range_count);
    mm.context.vdso = (void*)vdso_vaddr;
    mm.mm_lock_seq.sequence += 2;
    task = (struct task_struct){.pid = HOST_PID,
                                .tgid = HOST_PID,
                                .mm = &mm,
                                .group_leader = &task,
                                .signal = &live_threads,
                                .start_boottime = 99,
                                .comm = "host"};
    numbers_are_translated = 0;
    memset(&other_registers, 0, sizeof(other_registers));
    fake_kernel_set_task(&task, HOST_PID, (long)&saved_registers);
}

void host_set_numbers(const struct host_number* numbers, __u32 count) {
    /* The kernel's has a number a level, too. */
    static struct {
        struct pid pid;
        struct upid more[HOST_MAX_LEVELS - 1];
    } storage;

    storage.pid.level = count - 1;
    for (__u32 i = 0; i < count; i++)
        *number_at_level(&storage.pid, i) = (struct upid){
            .nr = (int)numbers[i].number,
            .ns = (struct pid_namespace*)(__u64)numbers[i].namespace_called,
        };
    task.thread_pid = &storage.pid;
    numbers_are_translated = 1;
    shown_pid_level = HOST_SHOWN_LEVEL;
    shown_pid_namespace = HOST_SHOWN_NAMESPACE;
}

void host_set_start_stack(__u64 vaddr) { mm.start_stack = vaddr; }

void host_file_key(__u64 inode_number, void* key) {
    struct inode inode;

    make_inode(&inode, inode_number);
    memset(key, 0, sizeof(struct file_key));
    read_file_key(&inode, key);
}

static void copy_found(struct host_mapping* result) {
    __u32 lane = LANE_AGENT;
    struct mapping_search* search = bpf_map_lookup_elem(&mapping_searches, &lane);

    result->start_vaddr = search->found.vm_start_vaddr;
    result->end_vaddr = search->found.vm_end_vaddr;
    result->file_offset = search->found.file_offset;
    result->executable = search->found.flags == VM_EXEC;
    result->inode_number = search->found.inode ? ((struct inode*)search->found.inode)->i_ino : 0;
}

int host_find_mapping(__u64 vaddr, struct host_mapping* result) {
    if (find_mapping(LANE_AGENT, (__u64)&mm, vaddr)) return 1;
    copy_found(result);
    return 0;
}

int host_find_next_mapping(__u64 vaddr, struct host_mapping* result) {
    const int next = find_next_mapping(LANE_AGENT, (__u64)&mm, vaddr);

    if (next == NEXT_FOUND) copy_found(result);
    return next;
}

void host_set_in_execve(int in_execve) { task.in_execve = in_execve; }

/* ---- what happens to it ------------------------------------------------------------------------
 */

void host_set_kernel_thread(int is_kernel_thread) {
    task.flags = is_kernel_thread ? PF_KTHREAD : 0;
    task.mm = is_kernel_thread ? NULL : &mm;
}

void host_set_targets_only(int only) { only_targets = only; }

void host_leave_out(int kernel_frames, int user_frames) {
    leave_out_kernel_frames = kernel_frames;
    leave_out_user_frames = user_frames;
}

void host_set_other_registers(const __u64 by_dwarf_number[16]) {
    other_registers = (struct pt_regs){
        .rax = by_dwarf_number[0],
        .rdx = by_dwarf_number[1],
        .rcx = by_dwarf_number[2],
        .rbx = by_dwarf_number[3],
        .rsi = by_dwarf_number[4],
        .rdi = by_dwarf_number[5],
        .r8 = by_dwarf_number[8],
        .r9 = by_dwarf_number[9],
        .r10 = by_dwarf_number[10],
        .r11 = by_dwarf_number[11],
        .r12 = by_dwarf_number[12],
        .r13 = by_dwarf_number[13],
        .r14 = by_dwarf_number[14],
        .r15 = by_dwarf_number[15],
    };
}

void host_set_mmap_lock_sequence(__u32 sequence) { mm.mm_lock_seq.sequence = sequence; }

void host_set_rule_generation(__u64 generation) { rule_generation = generation; }

void host_set_rule_memory(int used, int checked) {
    use_rule_memory = used;
    check_rule_memory = checked;
}

void host_set_thread_flags(__u32 flags) { task.flags = flags; }

void host_tick(const struct host_registers* registers, int in_kernel_mode) {
    struct bpf_perf_event_data ctx = {};

    saved_registers = other_registers;
    saved_registers.rip = registers->rip;
    saved_registers.rsp = registers->rsp;
    saved_registers.rbp = registers->rbp;
    saved_registers.cs = registers->cs;
    ctx.regs = saved_registers;
    if (in_kernel_mode)
        ctx.regs =
            (struct pt_regs){.rip = 0xffffffff81000000, .rsp = 0xffff888000000000, .cs = 0x10};
    on_tick(&ctx);
}

void host_exec(__u64 start_code_vaddr) {
    __u64 storage[4] = {(__u64)&task};

    mm.start_code = start_code_vaddr;
    on_process_exec((struct bpf_raw_tracepoint_args*)storage);
}

void* host_map_files(void) { return &files; }

void* host_map_free_ids(void) { return &free_executable_ids; }

void* host_map_executables(void) { return &executables; }

void* host_map_special_rules(void) { return &special_rules; }

void* host_map_macros(void) { return &macros; }

void* host_map_unwind_buckets(void) { return &unwind_buckets; }

void* host_map_samples(void) { return &samples; }

void* host_map_announcements(void) { return &announcements; }

void* host_map_outcome_counts(void) { return &outcome_counts; }

void* host_map_target_processes(void) { return &target_processes; }
