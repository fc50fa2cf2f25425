/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOBBIN_USER_WALK_BPF_HELPERS_H
#define BOBBIN_USER_WALK_BPF_HELPERS_H

/* Stands in for libbpf's header of this name when the walk of bpf/ is compiled into the agent. A
 * map is a struct whose members' types say what it is; its member `value` also holds where its
 * values are. The helpers themselves are in unwinder.c: inlined, as the verifier inlines them
 * there. */

#include <linux/bpf.h>
#include <stddef.h>

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value)* name
#define __array(name, of) typeof(of)* value
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

/* These shape code for the verifier; here nobody looks. */
#undef __noinline
#define __noinline static inline
#define barrier()
#define barrier_var(variable)

/* Named by functions of bpf/ that a walk does not call. */
struct task_struct;
__u64 bpf_ktime_get_ns(void);
long bpf_probe_read_kernel(void* to, __u32 size, const void* from);
long bpf_task_pt_regs(struct task_struct* task);

#endif
