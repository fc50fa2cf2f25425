/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOBBIN_HOST_BPF_HELPERS_H
#define BOBBIN_HOST_BPF_HELPERS_H

/* Stands in for libbpf's header of this name when bpf/ is compiled for the host: the same map
 * macros, and helpers that fake_kernel.cpp answers. */

#include <linux/bpf.h>
#include <stddef.h>

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value)* name
#define __array(name, value) typeof(value)* name[]
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#undef __noinline
#define __noinline __attribute__((noinline))
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(variable) __asm__ volatile("" : "+r"(variable))

void* bpf_map_lookup_elem(void* map, const void* key);
long bpf_map_update_elem(void* map, const void* key, const void* value, __u64 flags);
long bpf_map_delete_elem(void* map, const void* key);
long bpf_map_push_elem(void* map, const void* value, __u64 flags);
long bpf_map_pop_elem(void* map, void* value);
long bpf_probe_read_user(void* to, __u32 size, const void* from);
long bpf_probe_read_kernel(void* to, __u32 size, const void* from);
long bpf_probe_read_kernel_str(void* to, __u32 size, const void* from);
long bpf_ringbuf_output(void* ring, void* data, __u64 size, __u64 flags);
__u64 bpf_ringbuf_query(void* ring, __u64 flags);
__u64 bpf_ktime_get_ns(void);
__u64 bpf_get_current_pid_tgid(void);
__u64 bpf_get_current_cgroup_id(void);
__u32 bpf_get_smp_processor_id(void);
long bpf_get_current_comm(void* to, __u32 size);
__u64 bpf_get_current_task(void);
struct task_struct* bpf_get_current_task_btf(void);
long bpf_task_pt_regs(struct task_struct* task);
long bpf_get_stack(void* ctx, void* to, __u32 size, __u64 flags);
/* The kernel's own prototypes take void * here too. */
long bpf_loop(__u32 turns, void* callback, void* context, __u64 flags);
long bpf_find_vma(struct task_struct* task, __u64 address, void* callback, void* context,
                  __u64 flags);
long bpf_tail_call(void* ctx, void* programs, __u32 index);

#endif
